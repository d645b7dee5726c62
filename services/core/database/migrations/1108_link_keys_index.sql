-- A B-tree takes no key above 2,704 bytes, and keys of WebAuthn may be longer: an insert of one stopped the reader. A hash
-- takes all.
DROP INDEX IF EXISTS tools.links_key_idx;
