/** `makeFolder`: creates a folder whose mode does not depend on the umask of Proreus. */
import { chmodSync, mkdirSync } from 'node:fs'

/** Creates a folder and the missing folders above it. Sets the mode of the folder, even if the folder existed before. */
export function makeFolder(path: string, mode = 0o755): void {
  mkdirSync(path, { recursive: true })
  chmodSync(path, mode)
}
