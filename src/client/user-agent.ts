/** The name under which Proreus shows itself to API servers. */
import { createRequire } from 'node:module'

/** `proreus/<version>`. */
export function defaultUserAgent(): string {
  // The package's own package.json lies two folders up from the sources as well as from the build.
  const { version } = createRequire(import.meta.url)('../../package.json') as { version: string }
  return `proreus/${version}`
}
