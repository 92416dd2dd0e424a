/** The version of this package. */
import { readFileSync } from 'node:fs'

// package.json is two folders above the sources and above the build.
const packageJson = new URL('../../package.json', import.meta.url)

export const version: string = (JSON.parse(readFileSync(packageJson, 'utf8')) as { version: string }).version
