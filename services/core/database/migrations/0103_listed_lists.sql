-- What a listing of a single asset has in a column of its own is not repeated as a list. Rows that are there keep theirs:
-- whoever reads the lists takes both forms.

DO $$
DECLARE
  listing record;
BEGIN
  FOR listing IN VALUES ('sales'), ('auctions'), ('buyoffers') LOOP
    EXECUTE format('ALTER TABLE market.%I ALTER template_ids DROP NOT NULL, ALTER schema_names DROP NOT NULL', listing.column1);
    EXECUTE format('COMMENT ON COLUMN market.%I.template_ids IS %L', listing.column1,
      'Templates of the assets, distinct and ascending; null for a single asset, whose template is template_id');
    EXECUTE format('COMMENT ON COLUMN market.%I.schema_names IS %L', listing.column1,
      'Schemas of the assets, distinct and ascending; null for a single asset, whose schema is schema_name');
  END LOOP;
END $$;
