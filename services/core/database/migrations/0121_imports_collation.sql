-- Every text has the collation that no version of an operating system changes.

ALTER TABLE chain.imports
  ALTER source TYPE text COLLATE "C",
  ALTER fingerprint TYPE text COLLATE "C";
