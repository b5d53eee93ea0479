/** Calls that move objects between installations: the permission of each, what its placeholders name, and the rest. */
export const MOVE_CALLS = [
  ['GET /api/moves/apis', 'apis', [], {}],
  ['GET /api/moves/clients', 'oauth', [], {}],
  ['POST /api/moves/clients', 'oauth', [], { body: { client_id: 'moved', redirect_uri: 'https://app.test/cb' } }],
  ['DELETE /api/moves/clients/{}', 'oauth', ['client'], { owned: 0 }],
  // Calls that show secrets are for those who may write.
  ['GET /api/moves/clients/secrets', 'oauth', [], { writes: true }],
  ['GET /api/moves/keys', 'keys', [], {}],
  ['GET /api/moves/keys/secrets', 'keys', [], { writes: true }],
  ['POST /api/moves/keys', 'keys', [], { body: { key_hash: 'a'.repeat(64), session: { access_rights: {} } } }],
  ['POST /api/moves/check', 'apis', [], { body: { apis: [], client_ids: ['moved'], key_hashes: [] } }],
  ['PUT,DELETE /api/moves/lock', 'apis', [], { body: { run: 'run-of-the-matrix', seconds: 1 } }],
  ['PUT,DELETE /api/moves/turn', 'apis', [], { body: { run: 'run-of-the-matrix', seconds: 1 } }],
] as const
