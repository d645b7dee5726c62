#!/usr/bin/env python3
"""Computes the seals of docs/seals.md from the tables, with psql and SHA-256 alone.

usage: seals.py [--range BLOCKS] TO_BLOCK [KIND ...]    the database is that of PGHOST, PGDATABASE, ...
"""
import argparse, hashlib, os, subprocess, sys

UPDATED = 't.updated_at_block'
ENDED = {'sales': 't.state IN (2, 3)', 'buyoffers': 't.state IN (1, 2, 3)', 'template_buyoffers': 't.state IN (1, 2)',
         'auctions': 't.state = 2 OR t.claimed_by_seller AND t.claimed_by_buyer'}
LISTED = {'sales': (1, 'sale_id'), 'auctions': (2, 'auction_id'), 'buyoffers': (3, 'buyoffer_id'), 'template_buyoffers': (4, 'buyoffer_id')}
MINT = ('asset_id minted_at_time minted_at_block minted_seq template_id template_mint collection_name schema_name minter '
        'initial_receiver immutable_data').split()
TRADE_BLOCK = '(CASE t.kind ' + ' '.join(
    f'WHEN {kind} THEN (SELECT l.updated_at_block FROM market.{name} l WHERE l.{key} = t.listing_id AND ({ENDED[name].replace("t.", "l.")}))'
    for name, (kind, key) in LISTED.items()) + ' END)'

# Kind: table, rows that are sealed, block of a row, order, columns left out.
KINDS = {
    'assets.mints': ('assets.assets', 'true', 't.minted_at_block', 't.asset_id', None),
    'assets.burns': ('assets.assets', 't.burned_at_block IS NOT NULL', UPDATED, 't.asset_id', []),
    'assets.offers': ('assets.offers', 't.state IN (3, 4, 5)', UPDATED, 't.offer_id', []),
    'assets.templates': ('assets.templates', 't.deleted_at_block IS NOT NULL', 't.deleted_at_block', 't.template_id', []),
    'market.trades': ('market.trades', 'true', TRADE_BLOCK, 't.kind, t.listing_id', ['asset_burned']),
    'tools.links': ('tools.links', 't.state IN (2, 3)', UPDATED, 't.link_id', ['collection_names', 'has_unknown_assets']),
    'chain.abis': ('chain.abis', 'true', 't.block_num', 't.account, t.block_num', ['reader']),
}
for name, (_, key) in LISTED.items():
    KINDS[f'market.{name}'] = (f'market.{name}', ENDED[name], UPDATED, f't.{key}', ['name', 'asset_names', 'traits'])
for family in ('assets', 'market', 'tools'):
    KINDS[f'{family}.blocks'] = (f'{family}.blocks', 'true', 't.block_num', 't.first_seq', [])
for table, key in (('assets.transfers', 'transfer_id'), ('assets.logs', 'seq'), ('market.logs', 'seq'), ('market.bids', 'seq'),
                   ('market.royalty_payouts', 'seq, t.payout_index'), ('tools.logs', 'seq')):
    blocks, sequence = table.split('.')[0] + '.blocks', key.split(',')[0]
    KINDS[table] = (table, 'true', f'coalesce((SELECT b.block_num FROM {blocks} b WHERE b.first_seq <= t.{sequence} ORDER BY b.first_seq DESC LIMIT 1), '
                    f'(SELECT b.block_num FROM {blocks} b ORDER BY b.first_seq LIMIT 1))', f't.{key}', [])


def psql(sql):
    settings = {**os.environ, 'PGOPTIONS': '-c extra_float_digits=1 -c bytea_output=hex', 'PGCLIENTENCODING': 'UTF8'}
    return subprocess.run(['psql', '-XqAt', '-v', 'ON_ERROR_STOP=1', '-c', sql], env=settings, check=True, stdout=subprocess.PIPE).stdout.split(b'\n')[:-1]


def value(table, column, type):
    if table.startswith('market.') and column in ('template_ids', 'schema_names'):
        return f'CASE WHEN t.asset_count > 1 THEN t.{column} END'
    return f'trim_scale(t.{column})' if type == 'numeric' else f't.{column}'


def seals(kind, to, size):
    table, settled, block, order, left_out = KINDS[kind]
    columns = [line.decode().split('|') for line in psql(
        f"SELECT attname, format_type(atttypid, NULL) FROM pg_attribute WHERE attrelid = '{table}'::regclass AND attnum > 0 "
        "AND NOT attisdropped AND attgenerated = '' ORDER BY attname COLLATE \"C\"")]
    values = [value(table, *column) for column in columns if (column[0] in MINT if left_out is None else column[0] not in left_out)]
    ranges = {}
    for line in psql(f"COPY (SELECT {block} / {size} * {size}, {', '.join(values)} FROM {table} t WHERE ({settled}) AND {block} <= {to} ORDER BY {order}) TO STDOUT"):
        first, row = line.split(b'\t', 1)
        count, digest = ranges.setdefault(int(first), [0, hashlib.sha256()])
        digest.update(hashlib.sha256(row).digest())
        ranges[int(first)][0] += 1
    return [(first, first + size - 1, count, digest.hexdigest()) for first, (count, digest) in sorted(ranges.items())]


if __name__ == '__main__':
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument('--range', type=int, default=10_000)
    parser.add_argument('to', type=int)
    parser.add_argument('kinds', nargs='*')
    given = parser.parse_args()
    for kind in sorted(given.kinds or KINDS):
        for seal in seals(kind, given.to, given.range):
            print(kind, *seal)
