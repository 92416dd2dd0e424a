/** The version of this package. */
import { readFileSync } from 'node:fs'

// This relative path leads to package.json from the source `src/api/version.ts`, and also from the build `dist/api/version.js`.
const packageJson = new URL('../../package.json', import.meta.url)

export const version: string = (JSON.parse(readFileSync(packageJson, 'utf8')) as { version: string }).version
