-- Query indexes that gave way to others, which hold more: the others are built online when a reader is at the head.

DROP INDEX IF EXISTS assets.assets_owner_template_idx, assets.assets_minter_idx;
