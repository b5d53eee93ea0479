// Makes Cargo.lock of versions.lock, in which packages name no registry: theirs is that of the lock file that Cargo has just generated.
import { readFileSync, writeFileSync } from 'node:fs'

const [source] = /^source = .*$/m.exec(readFileSync('Cargo.lock', 'utf8'))
const versions = readFileSync('versions.lock', 'utf8')
writeFileSync('Cargo.lock', versions.replaceAll(/^checksum/gm, `${source}\nchecksum`))
