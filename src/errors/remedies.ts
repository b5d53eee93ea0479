import type { FaultCode } from './catalog.ts'

/** Actions of an operator for a store that cannot be used. */
export const REMEDIES: Partial<Readonly<Record<FaultCode, string>>> = {
  store_damaged: 'stop the server, keep a copy of the data folder, and restore the last backup',
  store_emptied: 'stop all nodes, restore the last backup, then start them',
  store_newer: 'start the newer program again, or restore the backup from before its upgrade',
  store_away: 'start the server of the store, or correct its address',
  store_refused: 'correct user and password of the address, and the rights of the user',
  seal_key_differs: 'set storage.seal_key to seal_key in secrets.json of the first node, or put that file back',
  seal_broken:
    'put secrets.json of the last backup back, or set storage.seal_key to the key that the store was written under',
  data_folder_unreadable: 'run doctor as the user of the server',
  store_frozen:
    'start with the settings of that one; where the move was cut short, bin/gatehouse migrate-store --give-up',
  data_folder_unwritable: 'give the user of the server the data folder',
}
