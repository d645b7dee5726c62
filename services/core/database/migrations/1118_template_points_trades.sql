-- Each purchase reads all points of a template: an index-only scan reads them from the key's index, in which the points
-- of a template stand together. The rows themselves are spread over as many pages as the template has points.
ALTER TABLE market.template_points DROP CONSTRAINT template_points_pkey,
  ADD PRIMARY KEY (template_id, token_symbol, price) INCLUDE (trades);
