import { parentPort, workerData } from 'node:worker_threads'
import { checkFile, type StoreCheckData } from './integrity.ts'

// Checks one file and says what is wrong with it, '' = nothing.
if (parentPort !== null) {
  const { file, texts } = workerData as StoreCheckData
  parentPort.postMessage(checkFile(file, texts) ?? '')
}
