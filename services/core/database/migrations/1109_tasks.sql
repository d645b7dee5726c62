-- Backups and comparisons run outside of the services: what became of them is watched from here.

CREATE TABLE chain.tasks (
  task text COLLATE "C" PRIMARY KEY,
  interval_seconds integer,
  succeeded_at timestamptz,
  failed_at timestamptz,
  failure text COLLATE "C"
);
COMMENT ON TABLE chain.tasks IS 'Tasks around the database, and what became of their last attempts';
COMMENT ON COLUMN chain.tasks.task IS 'backup, backup-check (a restored copy was compared), backup-copy (the hook) or verify';
COMMENT ON COLUMN chain.tasks.interval_seconds IS 'Time between two attempts; null without a schedule';
COMMENT ON COLUMN chain.tasks.succeeded_at IS 'When it last succeeded';
COMMENT ON COLUMN chain.tasks.failed_at IS 'Since when its attempts fail; null when the last one succeeded';
COMMENT ON COLUMN chain.tasks.failure IS 'Why the last attempt failed, or what it found';

-- Called after each attempt, with why it failed, or null. Since when attempts fail is the time of the first one that did.
CREATE FUNCTION chain.note_task(name text, reason text, every_seconds integer DEFAULT NULL) RETURNS void LANGUAGE sql AS $$
  INSERT INTO chain.tasks AS t (task, interval_seconds, succeeded_at, failed_at, failure)
  VALUES (name, every_seconds, CASE WHEN reason IS NULL THEN now() END, CASE WHEN reason IS NOT NULL THEN now() END, reason)
  ON CONFLICT (task) DO UPDATE SET
    interval_seconds = coalesce(EXCLUDED.interval_seconds, t.interval_seconds),
    succeeded_at = coalesce(EXCLUDED.succeeded_at, t.succeeded_at),
    failed_at = CASE WHEN EXCLUDED.failure IS NOT NULL THEN coalesce(t.failed_at, EXCLUDED.failed_at) END,
    failure = EXCLUDED.failure
$$;
COMMENT ON FUNCTION chain.note_task IS 'Notes what became of an attempt of a task';
