/** Tests of the database of objects: the objects that it keeps, and its errors when it cannot be used. */
import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { JsonObject } from '../../../src/api/json.ts'
import { parseJson } from '../../../src/api/json-reader.ts'
import type { OpenedDatabase } from '../../../src/devcluster/storage/object-database.ts'
import { openObjectDatabase } from '../../../src/devcluster/storage/object-database.ts'
import type { Change } from '../../../src/devcluster/storage/object-store.ts'
import { ObjectStore } from '../../../src/devcluster/storage/object-store.ts'
import { openSqlite } from '../../../src/devcluster/storage/sqlite.ts'
import { repository } from '../../support/process/process.ts'

const type = 'ex.com/foos'
const open = (directory: string, options: { firstRevision?: number; reset?: boolean } = {}): Promise<OpenedDatabase> =>
  openObjectDatabase(directory, { firstRevision: 1, ...options })

/** Opens the database, writes objects into it, and closes it. */
async function write(directory: string, ...objects: JsonObject[]): Promise<void> {
  const { database, revision, objects: before } = await open(directory)
  const store = new ObjectStore({ firstRevision: revision, objects: before, persistence: database })
  const keyed = objects.map((object) => ({ name: (object.metadata as { name: string }).name, object }))
  await Promise.all(keyed.map(({ name, object }) => store.put(type, { name }, object, store.latest(type, { name }))))
  database.close()
}

const named = (name: string, more: JsonObject = {}): JsonObject => ({ metadata: { name }, ...more })

/** Opens the database file, runs SQL statements, and closes the file. The database must not be open during the call. */
function tamper(directory: string, sql: string): void {
  const database = openSqlite(join(directory, 'objects.db'))
  database.exec(sql)
  database.close()
}

t.test('objects and the last revision are kept', async (t) => {
  const directory = join(t.testdir(), 'new')
  const exact = parseJson(
    '{"__proto__":{"x":1},"long":9007199254740993,"text":"\\u0000 ü 😀 \\ud800","none":null,"float":1.5}',
  ) as JsonObject
  await write(directory, named('a'), named('b', exact), named('c'))
  const { database, objects, revision } = await open(directory)
  t.equal(revision, 4)
  t.strictSame(objects[1], { storageKey: type, key: 'b', object: { metadata: { name: 'b', resourceVersion: '3' }, ...exact } })
  t.ok(Object.hasOwn(objects[1]!.object, '__proto__'))
  const store = new ObjectStore({ firstRevision: revision, objects, persistence: database })
  await store.delete(type, { name: 'a' }, store.get(type, { name: 'a' })!)
  database.close()
  const again = await open(directory)
  t.strictSame([again.objects.map(({ key }) => key), again.revision], [['b', 'c'], 5], 'a deletion has a revision, too')
  again.database.close()
})

t.test('the revision begins at firstRevision, and never goes back', async (t) => {
  const directory = t.testdir()
  for (const [firstRevision, expected] of [
    [100, 100],
    [50, 100],
    [200, 200],
    [1, 200],
  ] as const) {
    const { database, revision } = await open(directory, { firstRevision })
    t.equal(revision, expected)
    database.close()
  }
})

t.test('the files are readable by their owner only', async (t) => {
  const directory = join(t.testdir(), 'new')
  await write(directory, named('a'))
  const { database } = await open(directory)
  t.equal(statSync(directory).mode & 0o777, 0o700)
  t.equal(statSync(join(directory, 'objects.db')).mode & 0o777, 0o600)
  t.equal(statSync(join(directory, 'objects.db-wal')).mode & 0o777, 0o600)
  database.close()
  chmodSync(join(directory, 'objects.db'), 0o644)
  await t.rejects(open(directory), { code: 'PRO_STATE_FILE', message: /^Cannot use .*objects\.db: its mode is 0644/ })
  chmodSync(join(directory, 'objects.db'), 0o600)
  chmodSync(directory, 0o777)
  await t.rejects(open(directory), { code: 'PRO_STATE_FILE', message: /everybody may write to its folder/ })
})

t.test('a reset deletes the objects, but the revision does not go back', async (t) => {
  const directory = t.testdir()
  await write(directory, named('a'), named('b'))
  const { database, objects, revision } = await open(directory, { reset: true })
  t.strictSame([objects, revision], [[], 3])
  database.close()
})

t.test('a commit that fails keeps nothing, and the next one succeeds', async (t) => {
  const directory = t.testdir()
  const { database } = await open(directory)
  const change = (name: string, object: JsonObject, revision: number): Change => ({
    ...{ type: 'ADDED', storageKey: type, key: name, previous: undefined },
    ...{ object, revision },
  })
  const broken: JsonObject = {
    get metadata(): JsonObject {
      throw new Error('broken')
    },
  }
  t.throws(() => database.commit([change('a', named('a'), 2), change('b', broken, 3)]), { message: 'broken' })
  database.commit([change('c', named('c'), 2)])
  database.close()
  const again = await open(directory)
  t.strictSame([again.objects.map(({ key }) => key), again.revision], [['c'], 2])
  again.database.close()
})

t.test('commits survive a power cut as far as a checkpoint has written them, and never in part', async (t) => {
  const { DatabaseSync } = process.getBuiltinModule('node:sqlite')
  const statements = t.capture(DatabaseSync.prototype, 'exec', DatabaseSync.prototype.exec)
  const { database } = await open(t.testdir())
  t.teardown(() => database.close())
  const connection = statements()[0]!.receiver as InstanceType<typeof DatabaseSync>
  const pragma = (name: string): unknown => Object.values(connection.prepare(`PRAGMA ${name}`).get()!)[0]
  const normal = 1
  t.strictSame([pragma('journal_mode'), pragma('synchronous'), pragma('wal_autocheckpoint')], ['wal', normal, 4000])
})

const inUse = { code: 'PRO_STATE_FILE', message: /^The objects in .*objects\.db are in use by another process: stop it, or choose another folder\.$/ } // prettier-ignore

t.test('only one process can use the database, until it ends', async (t) => {
  const directory = t.testdir()
  const { database } = await open(directory)
  await t.rejects(open(directory), inUse)
  await t.rejects(open(directory, { reset: true }), inUse)
  const script = `
    import { openObjectDatabase } from ${JSON.stringify(join(repository, 'src/devcluster/storage/object-database.ts'))}
    await openObjectDatabase(${JSON.stringify(directory)}, { firstRevision: 1 }).then(() => process.kill(process.pid, 'SIGKILL'), (error) => process.stdout.write(error.message))`
  const child = () => spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' })
  t.match(child(), { status: 0, stdout: inUse.message, stderr: '' })
  database.close()
  t.match(child(), { signal: 'SIGKILL', stderr: '' }, 'it opens the database, without a warning, and is killed')
  const { database: again } = await open(directory)
  again.close()
})

t.test('a file of another program is neither used nor reset', async (t) => {
  const message = /objects\.db is not a database of Proreus: choose another folder, or move this file\.$/
  for (const content of ['some text that is no database at all, '.repeat(50), undefined]) {
    const directory = t.testdir()
    const path = join(directory, 'objects.db')
    if (content === undefined) tamper(directory, 'CREATE TABLE theirs (id INTEGER); INSERT INTO theirs VALUES (1)')
    else writeFileSync(path, content)
    chmodSync(path, 0o600)
    const before = readFileSync(path)
    for (const reset of [false, true]) await t.rejects(open(directory, { reset }), { code: 'PRO_STATE_FILE', message })
    t.strictSame(readFileSync(path), before)
  }
})

/** Damages the index of the keys. This index is not read while the objects are loaded. */
function damageIndex(directory: string): void {
  const path = join(directory, 'objects.db')
  const database = openSqlite(path)
  const { page } = database.prepare(`SELECT rootpage AS page FROM sqlite_schema WHERE type = 'index'`).get() as { page: number }
  database.close()
  const bytes = readFileSync(path)
  bytes.fill(0xff, (page - 1) * 4096, page * 4096)
  writeFileSync(path, bytes)
}

const losses: [name: string, lose: (directory: string) => void, problem: RegExp][] = [
  [
    'a newer format',
    (directory) => tamper(directory, 'PRAGMA user_version = 7'),
    /they have the format 7, expected 1 or lower: use the newer release/,
  ],
  [
    'a damaged page',
    (directory) => {
      const bytes = readFileSync(join(directory, 'objects.db'))
      bytes.fill(0xff, 4096, 8192)
      writeFileSync(join(directory, 'objects.db'), bytes)
    },
    /the database is damaged \(.+\): restore a copy of it/,
  ],
  ['a damaged index', damageIndex, /the database is damaged \(.+\)/],
  ['a missing end', (directory) => truncateSync(join(directory, 'objects.db'), 8192), /the database is damaged \(.+\)/],
  ['an object that is no JSON', (directory) => tamper(directory, `UPDATE objects SET object = '{'`), /the database is damaged \(.*JSON/],
  ['an object that is a number', (directory) => tamper(directory, `UPDATE objects SET object = '7'`), /an object is not a JSON object/],
  [
    'an object that is nested too deeply',
    (directory) => tamper(directory, `UPDATE objects SET object = '${'{"a":'.repeat(200_000)}{}${'}'.repeat(200_000)}'`),
    /an object is nested too deeply/,
  ],
  ['no tables', (directory) => tamper(directory, 'DROP TABLE objects; DROP TABLE revision'), /the database is damaged \(no such table/],
]
for (const [name, lose, problem] of losses) {
  t.test(`a database with ${name} is refused, unless it is reset`, async (t) => {
    const directory = t.testdir()
    await write(directory, ...Array.from({ length: 50 }, (_, index) => named(`x${index}`, { text: 'x'.repeat(1000) })))
    lose(directory)
    await t.rejects(open(directory), { code: 'PRO_STATE_FILE', message: problem })
    await t.rejects(open(directory), { message: /^The objects in .*objects\.db cannot be loaded: .*, or forget its objects with proreus dev --reset\.$/ }) // prettier-ignore
    const { database, objects } = await open(directory, { reset: true })
    t.strictSame(objects, [])
    database.close()
    await write(directory, named('a'))
    t.ok(existsSync(join(directory, 'objects.db')))
  })
}

t.test('a folder that cannot be written is reported in one sentence', async (t) => {
  const directory = t.testdir({ file: '', folder: { 'objects.db': {} } })
  const message = /^Cannot use .*objects\.db: .*\. Choose another folder, or make this one your own, private \(chmod 700\) and writable\.$/
  await t.rejects(open(join(directory, 'file')), { code: 'PRO_STATE_FILE', message })
  await t.rejects(open(join(directory, 'folder')), { code: 'PRO_STATE_FILE', message })
})
