import { group, list, text, whole } from './leaves.ts'

/** `backup`: backups that a running server makes by itself. */
export const backupSettings = group({
  folder: text(
    '',
    'Folder that the server writes backups of the whole store into, by itself. Made where it is missing. In a cluster set it for one node. Empty: none are made.',
  ),
  interval_minutes: whole(
    1440,
    [1, 525_600],
    'Minutes between two backups. After a failure the next is tried within ten minutes.',
  ),
  keep: whole(7, [1, 10_000], 'How many backups stay in the folder; the oldest are deleted after each success.'),
  without: list('Parts of the store that they leave out: `analytics`, `audit`, `records`.', {
    pattern: '^(?:analytics|audit|records)$',
    allowed: 'analytics, audit or records',
  }),
  recipient: text(
    '',
    'PEM file with an X25519 public key. Each backup then carries the secrets of the installation, sealed for it, as `--recipient` of the command has it. Read for each backup. Empty: they are left out.',
  ),
})

/** `storage`: the embedded store, or the servers of a cluster. */
export const storageSettings = group({
  path: text('./data', 'Folder of the embedded store, and of what a node keeps for itself. Made at the first start.', {
    pattern: '^(?!.*://).*\\S',
    allowed: 'a folder, no address',
  }),
  postgres_url: text(
    '',
    'PostgreSQL of a cluster, such as `postgres://user:password@host:5432/database?sslmode=verify-full&sslrootcert=FILE`; of several hosts (`host1:5432,host2:5432`) the one that takes writes is used, unless `target_session_attrs=any`; `password_file=FILE` instead of a password names a file that is read for each connection. Given together with `redis_url`. Empty: the embedded store.',
    { secret: true, pattern: '^(?:postgres(?:ql)?://\\S+)?$', allowed: 'a postgres URL' },
  ),
  postgres_listen_url: text(
    '',
    'The same PostgreSQL past a transaction pooler, for its notices. Empty: `postgres_url`. Without notices, changes are found by polling.',
    { secret: true, pattern: '^(?:postgres(?:ql)?://\\S+)?$', allowed: 'a postgres URL' },
  ),
  postgres_pool_size: whole(
    10,
    [1, 1000],
    'Connections for reading of each thread that uses PostgreSQL (gateway, dashboard), made when they are needed. Three more write, listen and watch the server.',
  ),
  seal_key: text(
    '',
    'What secrets are sealed under, 256 bits as base64url: the same for every node of a cluster. Empty: `seal_key` in `secrets.json` of the data folder, made at the first start.',
    { secret: true, pattern: '^(?:[A-Za-z0-9_-]{43})?$', allowed: '43 characters of base64url' },
  ),
  seal_key_previous: text(
    '',
    'Other seal keys that secrets are read under, separated by commas: those that `seal_key` replaces, or the one that will replace it.',
    {
      secret: true,
      pattern: '^(?:[A-Za-z0-9_-]{43}(?:,[A-Za-z0-9_-]{43})*)?$',
      allowed: '43 characters of base64url, several separated by commas',
    },
  ),
  redis_url: text(
    '',
    'Redis or Valkey of a cluster, such as `rediss://user:password@host:6379/0?cacert=FILE`, by sentinels `redis+sentinel://user:password@sentinel1:26379,sentinel2:26379/0?master=NAME`, or a Redis cluster `redis+cluster://user:password@node1:6379,node2:6379`; `password_file=FILE` as for PostgreSQL. Given together with `postgres_url`.',
    { secret: true, pattern: '^(?:rediss?(?:\\+(?:sentinel|cluster))?://\\S+)?$', allowed: 'a redis or rediss URL' },
  ),
})
