-- Two comments named another unit.
COMMENT ON COLUMN oracle.pairs.median_time IS 'Time of the data point that carries it, ms since 1970';
COMMENT ON COLUMN oracle.datapoints.point_time IS 'When it was written, ms since 1970; 0 for a place not used yet';
