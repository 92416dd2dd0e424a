/** The scripts of processes and threads, which are beside this module: as sources, and in the folder of chunks of the package. */
import { extname } from 'node:path'

/** Returns the URL of a script. */
export function siblingModule(name: 'operators-process' | 'parent-guard'): URL {
  return new URL(`./${name}${extname(import.meta.url)}`, import.meta.url)
}
