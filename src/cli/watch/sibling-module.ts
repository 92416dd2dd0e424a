/**
 * Locates the scripts that run as processes or threads. These scripts are in the same folder as this module, both in the sources and in the
 * built package.
 */
import { extname } from 'node:path'

/** Returns the URL of a script. */
export function siblingModule(name: 'operators-process' | 'parent-guard'): URL {
  return new URL(`./${name}${extname(import.meta.url)}`, import.meta.url)
}
