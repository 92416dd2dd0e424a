/** The state of a source file, by which a change is noticed. */
import { statSync } from 'node:fs'

export interface SourceFile {
  readonly path: string
  readonly state: string
}

/** The state of a file that does not exist. */
export const missing = 'missing'

/**
 * Returns a file with its state: the time of its last change and its size; `missing` for a file that does not exist. The state is read
 * synchronously, immediately before a module is loaded.
 */
export function sourceFile(path: string): SourceFile {
  const stats = statSync(path, { throwIfNoEntry: false, bigint: true })
  return { path, state: stats === undefined ? missing : `${stats.mtimeNs} ${stats.size}` }
}
