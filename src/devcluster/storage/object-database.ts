/**
 * Stores the objects of an `ObjectStore` in an SQLite database. A committed transaction survives the end of the process, even a crash.
 * SQLite waits for the disk only at checkpoints. A power failure can therefore undo the latest transactions, but only whole transactions
 * (https://www.sqlite.org/pragma.html#pragma_synchronous: WAL mode with NORMAL).
 */
import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { ProreusError, messageOf } from '../../api/errors.ts'
import { parseJson } from '../../api/json-reader.ts'
import { isObject } from '../../api/json.ts'
import { checkPrivateFile, checkPrivateFolder, makePrivateFolder } from '../../certs/private-file.ts'
import { jsonOf } from '../apimachinery/json-of.ts'
import { isTooDeep } from '../apimachinery/object-depth.ts'
import type { Change, StoredObject } from './object-store.ts'
import type { Persistence } from './persistence.ts'
import { openSqlite, sqliteProblem } from './sqlite.ts'

export interface OpenedDatabase {
  readonly database: ObjectDatabase
  readonly objects: readonly StoredObject[]
  /** The initial revision of the store. It is the last revision in the database or `firstRevision`, whichever is higher. */
  readonly revision: number
}

export interface OpenOptions {
  /** The minimum of `OpenedDatabase.revision`. */
  readonly firstRevision: number
  /** True to delete all stored objects before the objects are loaded. Default false. */
  readonly reset?: boolean
}

const fileName = 'objects.db'
/** Marks the file as a database of Proreus: `PROR` in ASCII. */
const applicationId = 0x50524f52
/** The version of the tables. A database with a higher version is rejected. */
const format = 1
/**
 * When the write-ahead log has this number of pages of 4 KiB, SQLite starts a checkpoint. A checkpoint copies the pages to the database and
 * waits for the disk, and so it blocks the event loop. This number is four times SQLite's default, so that checkpoints are less frequent.
 */
const checkpointPages = 4_000

const tables = `
  CREATE TABLE objects (id INTEGER PRIMARY KEY, type TEXT NOT NULL, key TEXT NOT NULL, object TEXT NOT NULL, UNIQUE (type, key));
  CREATE TABLE revision (id INTEGER PRIMARY KEY CHECK (id = 1), value INTEGER NOT NULL);
  INSERT INTO revision VALUES (1, 0);
  PRAGMA application_id = ${applicationId};
  PRAGMA user_version = ${format};`

/**
 * Opens the database in `directory`, or creates it, and loads the stored objects. No other process can open the database until this process
 * closes the database or ends. With `reset`, a database that is damaged or has a newer format is replaced.
 *
 * @throws {ProreusError} `PRO_STATE_FILE` in these cases:
 *
 * - The database is in use, is not a database of Proreus, or cannot be read or written.
 * - Other users could have read or replaced the database.
 * - The database is damaged or has a newer format, and `reset` is not true.
 */
export async function openObjectDatabase(directory: string, options: OpenOptions): Promise<OpenedDatabase> {
  const path = join(directory, fileName)
  try {
    await checkPrivateFolder(directory)
    await makePrivateFolder(directory)
    await createPrivately(path)
    await checkPrivateFile(path)
  } catch (error) {
    throw unusable(path, error)
  }
  try {
    return load(path, options)
  } catch (error) {
    if (options.reset !== true || !(error instanceof LostObjects)) throw error
    for (const suffix of ['', '-wal', '-shm']) await rm(path + suffix, { force: true })
    return await openObjectDatabase(directory, { firstRevision: options.firstRevision })
  }
}

/**
 * If the file is missing, creates it with private permissions. Without this function, SQLite would create the file with the permissions
 * that the umask allows. SQLite creates the write-ahead log with the same permissions as this file.
 */
async function createPrivately(path: string): Promise<void> {
  try {
    // An existing file must not be opened here. Closing the file would release all locks of this process on the file, including the locks
    // of SQLite (fcntl(2)).
    await (await open(path, 'wx', 0o600)).close()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}

/** The error for a database whose objects cannot be loaded. With `reset`, such a database is deleted. */
class LostObjects extends ProreusError {
  constructor(path: string, problem: string, options?: { readonly cause: unknown }) {
    const advice = 'or forget its objects with proreus dev --reset'
    super('PRO_STATE_FILE', `The objects in ${path} cannot be loaded: ${problem}, ${advice}.`, options)
  }
}

function load(path: string, { firstRevision, reset = false }: OpenOptions): OpenedDatabase {
  let database: DatabaseSync | undefined
  try {
    database = openSqlite(path)
    prepare(database, path)
    if (reset) database.exec('DELETE FROM objects')
    const revision = Math.max(numberOf(database, 'SELECT value FROM revision'), firstRevision)
    // This write also checks that the database is writable. A problem is therefore found before the first client request.
    database.prepare('UPDATE revision SET value = ?').run(revision)
    return { objects: objectsOf(database, path), revision, database: new ObjectDatabase(database) }
  } catch (error) {
    database?.close()
    throw error instanceof ProreusError ? error : explained(path, error)
  }
}

/** Locks the database and checks it. Creates the tables of a new database. */
function prepare(database: DatabaseSync, path: string): void {
  // SQLite locks the database when a statement reads the database for the first time. SQLite releases the lock only when the connection is
  // closed or the process ends.
  database.exec('PRAGMA locking_mode = EXCLUSIVE')
  const owner = numberOf(database, 'PRAGMA application_id')
  const isNew = owner === 0 && numberOf(database, 'SELECT count(*) FROM sqlite_schema') === 0
  if (!isNew && owner !== applicationId) throw foreign(path)
  const version = numberOf(database, 'PRAGMA user_version')
  if (version > format)
    throw new LostObjects(path, `they have the format ${version}, expected ${format} or lower: use the newer release of Proreus that wrote them`) // prettier-ignore
  if (isNew) database.exec(`BEGIN EXCLUSIVE; ${tables} COMMIT`)
  database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = ${checkpointPages}`)
  const { quick_check: found } = database.prepare('PRAGMA quick_check(1)').get() as { quick_check: string }
  if (found !== 'ok') throw damaged(path, new Error(found.replace('*** in database main ***', '').trim()))
}

function objectsOf(database: DatabaseSync, path: string): StoredObject[] {
  const objects: StoredObject[] = []
  for (const row of database.prepare('SELECT type, key, object FROM objects').iterate()) {
    const { type: storageKey, key, object: text } = row as { type: string; key: string; object: string }
    objects.push({ storageKey, key, object: parsed(path, text) })
  }
  return objects
}

function parsed(path: string, text: string): StoredObject['object'] {
  try {
    const object = parseJson(text)
    if (!isObject(object)) throw new Error('an object is not a JSON object')
    if (isTooDeep(object)) throw new Error('an object is nested too deeply')
    return object
  } catch (error) {
    throw damaged(path, error)
  }
}

/** Returns the only value of a query with one row and one column. */
function numberOf(database: DatabaseSync, query: string): number {
  return Object.values(database.prepare(query).get() ?? {})[0] as number
}

function explained(path: string, error: unknown): ProreusError {
  switch (sqliteProblem(error)) {
    case 'busy':
      return new ProreusError('PRO_STATE_FILE', `The objects in ${path} are in use by another process: stop it, or choose another folder.`, { cause: error }) // prettier-ignore
    case 'damaged':
      return damaged(path, error)
    case 'foreign':
      return foreign(path, { cause: error })
    default:
      return unusable(path, error)
  }
}

function damaged(path: string, error: unknown): ProreusError {
  return new LostObjects(path, `the database is damaged (${messageOf(error)}): restore a copy of it`, { cause: error })
}

function foreign(path: string, options?: { readonly cause: unknown }): ProreusError {
  return new ProreusError('PRO_STATE_FILE', `${path} is not a database of Proreus: choose another folder, or move this file.`, options)
}

function unusable(path: string, error: unknown): ProreusError {
  const advice = 'Choose another folder, or make this one your own, private (chmod 700) and writable'
  return new ProreusError('PRO_STATE_FILE', `Cannot use ${path}: ${messageOf(error)}. ${advice}.`, { cause: error })
}

export class ObjectDatabase implements Persistence {
  readonly #database: DatabaseSync
  readonly #put: StatementSync
  readonly #delete: StatementSync
  readonly #setRevision: StatementSync

  constructor(database: DatabaseSync) {
    this.#database = database
    this.#put = database.prepare(
      'INSERT INTO objects (type, key, object) VALUES (?, ?, ?) ON CONFLICT (type, key) DO UPDATE SET object = excluded.object',
    )
    this.#delete = database.prepare('DELETE FROM objects WHERE type = ? AND key = ?')
    this.#setRevision = database.prepare('UPDATE revision SET value = ?')
  }

  commit(changes: readonly Change[]): void {
    this.#transaction(() => {
      for (const { type, storageKey, key, object } of changes) {
        if (type === 'DELETED') this.#delete.run(storageKey, key)
        else this.#put.run(storageKey, key, jsonOf(object))
      }
      this.#setRevision.run(changes.at(-1)!.revision)
    })
  }

  /** Copies the write-ahead log to the database, and releases the lock. */
  close(): void {
    if (this.#database.isOpen) this.#database.close()
  }

  #transaction(write: () => void): void {
    this.#database.exec('BEGIN')
    try {
      write()
      this.#database.exec('COMMIT')
    } catch (error) {
      // After some errors, SQLite has already rolled back the transaction. In this case, a `ROLLBACK` would fail.
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK')
      throw error
    }
  }
}
