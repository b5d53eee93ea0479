import { parentPort, workerData } from 'node:worker_threads'
import { checkFile } from './integrity.ts'

// Checks one file and says what is wrong with it, '' = nothing.
if (parentPort !== null) parentPort.postMessage(checkFile(workerData as string) ?? '')
