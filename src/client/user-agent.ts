/** The name under which Proreus shows itself to API servers. */
import { version } from '../api/version.ts'

/** `proreus/<version>`. */
export function defaultUserAgent(): string {
  return `proreus/${version}`
}
