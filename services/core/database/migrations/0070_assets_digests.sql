-- Assets that say the same of their own are told by a digest: an index holds it beside the owner, where it could not hold
-- the attributes. The database computes it, so rows and images of the undo journal cannot disagree with their data.

ALTER TABLE assets.assets ADD mutable_digest uuid GENERATED ALWAYS AS (md5(mutable_data::text)::uuid) STORED;
COMMENT ON COLUMN assets.assets.mutable_digest IS 'MD5 of the text of mutable_data; null when that is';
