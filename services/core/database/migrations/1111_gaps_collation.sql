-- Every text is ordered by its bytes, on every base image.
ALTER TABLE chain.imports ALTER accepted_gaps TYPE text[] COLLATE "C";
