/** The version of this package. */
import { readFileSync } from 'node:fs'

// The package's own package.json lies two folders up from the sources as well as from the build.
const packageJson = new URL('../../package.json', import.meta.url)

export const version: string = (JSON.parse(readFileSync(packageJson, 'utf8')) as { version: string }).version
