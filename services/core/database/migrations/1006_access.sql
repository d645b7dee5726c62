-- Who may ask the state service: API keys, of which only a hash is kept, and the keys that tokens are signed with.

CREATE SCHEMA access;
COMMENT ON SCHEMA access IS 'API keys of the state service and the keys that its tokens are signed with';

CREATE TABLE access.api_keys (
  key_id text COLLATE "C" PRIMARY KEY,
  label text NOT NULL,
  key_hash bytea NOT NULL UNIQUE,
  tokens_per_minute integer,
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz,
  revoked_at timestamptz,
  last_used_at timestamptz
);
COMMENT ON TABLE access.api_keys IS 'API keys; the key itself was shown once, when it was made';
COMMENT ON COLUMN access.api_keys.key_id IS 'Public name of the key, 12 hexadecimal digits; tokens carry it';
COMMENT ON COLUMN access.api_keys.label IS 'Whose key it is, in the words of whoever made it';
COMMENT ON COLUMN access.api_keys.key_hash IS 'SHA-256 of the key, which has 160 random bits';
COMMENT ON COLUMN access.api_keys.tokens_per_minute IS 'Tokens that may be issued for it in a minute; null = no limit of its own';
COMMENT ON COLUMN access.api_keys.created_at IS 'When it was made';
COMMENT ON COLUMN access.api_keys.expires_at IS 'When it ends by itself; null = never';
COMMENT ON COLUMN access.api_keys.revoked_at IS 'When it was revoked; null = it is not';
COMMENT ON COLUMN access.api_keys.last_used_at IS 'When a token was last issued for it, to the minute';

CREATE TABLE access.signing_keys (
  key_id text COLLATE "C" PRIMARY KEY,
  secret bytea NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  retired_at timestamptz
);
COMMENT ON TABLE access.signing_keys IS 'Secrets that tokens are signed with (HMAC with SHA-256)';
COMMENT ON COLUMN access.signing_keys.key_id IS 'Name of the key, 16 hexadecimal digits; the kid of tokens';
COMMENT ON COLUMN access.signing_keys.secret IS '32 random bytes';
COMMENT ON COLUMN access.signing_keys.created_at IS 'When it was made';
COMMENT ON COLUMN access.signing_keys.retired_at IS 'Since when no token is signed with it any more; its tokens are good until they expire';

-- Of services that start together one makes the first key, and the others find it.
CREATE UNIQUE INDEX signing_keys_in_use ON access.signing_keys ((true)) WHERE retired_at IS NULL;
