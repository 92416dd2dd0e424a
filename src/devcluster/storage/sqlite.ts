/** Opens SQLite databases with Node.js's module `node:sqlite`, and classifies the errors of SQLite. */
import type * as Sqlite from 'node:sqlite'
import { ProreusError } from '../../api/errors.ts'

/**
 * Opens an SQLite database.
 *
 * Some releases of Node.js print a warning when they load `node:sqlite`, because its API is not final in these releases. The function
 * suppresses this warning, because Proreus is tested with these releases. The function itself loads the module, because Node.js would load
 * a static `import` before any code of this file could suppress the warning.
 *
 * @throws {ProreusError} `PRO_CONFIG_INVALID` when this Node.js has been built without SQLite.
 */
export function openSqlite(path: string): Sqlite.DatabaseSync {
  const { emitWarning } = process
  let sqlite: typeof Sqlite | undefined
  process.emitWarning = () => undefined
  try {
    sqlite = process.getBuiltinModule('node:sqlite') as typeof Sqlite | undefined
  } finally {
    process.emitWarning = emitWarning
  }
  if (sqlite === undefined)
    throw new ProreusError(
      'PRO_CONFIG_INVALID',
      `${process.execPath} has been built without SQLite, which keeps the objects: use a Node.js of nodejs.org.`,
    )
  return new sqlite.DatabaseSync(path)
}

/** The result codes of SQLite that callers distinguish (https://www.sqlite.org/rescode.html). */
const resultCodes = { 1: 'damaged', 5: 'busy', 6: 'busy', 11: 'damaged', 26: 'foreign' } as const

/** Returns the kind of an SQLite error; undefined when `resultCodes` does not contain the error's result code. */
export function sqliteProblem(error: unknown): (typeof resultCodes)[keyof typeof resultCodes] | undefined {
  const { errcode } = error as { readonly errcode?: number }
  // The lowest byte of an extended result code is the primary result code.
  return errcode === undefined ? undefined : resultCodes[(errcode & 0xff) as keyof typeof resultCodes]
}
