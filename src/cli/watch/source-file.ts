/** The state of a source file. A file has changed when its state differs from an earlier state. */
import { statSync } from 'node:fs'

export interface SourceFile {
  readonly path: string
  readonly state: string
}

/** The state of a file that does not exist or cannot be read. */
export const missing = 'missing'

/**
 * Returns a file with its current state: the time of the last change, and the size. If the file cannot be read, the state is `missing`. The
 * function is synchronous, so that the state can be read immediately before a module is loaded.
 */
export function sourceFile(path: string): SourceFile {
  try {
    const stats = statSync(path, { throwIfNoEntry: false, bigint: true })
    return { path, state: stats === undefined ? missing : `${stats.mtimeNs} ${stats.size}` }
  } catch {
    // `statSync` throws an error, for example, if a folder of the path is not accessible.
    return { path, state: missing }
  }
}
