import { chmod, lstat, mkdir, readdir, readFile, readlink, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import type { ProjectedFile } from '../../../../src/devcluster/pods/volumes/atomic-writer.ts'
import { AtomicWriter } from '../../../../src/devcluster/pods/volumes/atomic-writer.ts'
import type { OwnershipChange } from '../../../../src/devcluster/pods/volumes/ownership.ts'
import { FakeClock } from '../../../../src/testing/fake-clock.ts'

class World {
  readonly folder: string
  readonly changes: OwnershipChange[] = []
  readonly clock = new FakeClock('2026-02-03T04:05:06Z')
  readonly writer: AtomicWriter
  #numbers = 0

  constructor(t: Test) {
    this.folder = t.testdir({})
    const changeOwnership = async (changes: readonly OwnershipChange[]): Promise<void> => void this.changes.push(...changes)
    this.writer = new AtomicWriter(this.folder, { clock: this.clock, random: () => (this.#numbers += 1) / 2 ** 32, changeOwnership })
  }

  async write(
    files: Readonly<Record<string, string | Partial<ProjectedFile>>>,
    setPermissions = async (): Promise<void> => {},
  ): Promise<void> {
    const payload = Object.entries(files).map(([path, file]): [string, ProjectedFile] => [
      path,
      { data: Buffer.from(typeof file === 'string' ? file : 'x'), mode: 0o640, ...(typeof file === 'string' ? {} : file) },
    ])
    await this.writer.write(new Map(payload), setPermissions)
  }

  path(name: string): string {
    return join(this.folder, name)
  }

  async names(): Promise<readonly string[]> {
    return (await readdir(this.folder)).sort()
  }
}

/** The expected layout is described in the comment of k8s.io/kubernetes/pkg/volume/util: AtomicWriter.Write. */
t.test('visible names are links through ..data to a folder that is named after the time', async (t) => {
  const world = new World(t)
  await world.write({ podName: 'web', 'user/labels': 'a', 'user/deep/x': 'b' })
  t.strictSame(await world.names(), ['..2026_02_03_04_05_06.1', '..data', 'podName', 'user'])
  t.equal(await readlink(world.path('..data')), '..2026_02_03_04_05_06.1')
  t.equal(await readlink(world.path('podName')), '..data/podName')
  t.equal(await readlink(world.path('user')), '..data/user')
  t.equal(await readFile(world.path('user/deep/x'), 'utf8'), 'b')
  t.equal((await lstat(world.path('..data/podName'))).mode & 0o777, 0o640)
  t.equal((await stat(world.path('..data'))).mode & 0o777, 0o755)
})

t.test('an update replaces all files at once, and removes names that are gone', async (t) => {
  const world = new World(t)
  await world.write({ keep: 'one', gone: 'x', 'folder/a': 'a', 'folder/b': 'b' })
  let seen = ''
  await world.write({ keep: 'two', added: 'y', 'folder/b': 'b' }, async () => {
    seen = await readFile(world.path('keep'), 'utf8')
  })
  t.equal(seen, 'one', 'the old version is visible until all files are written')
  t.strictSame(await world.names(), ['..2026_02_03_04_05_06.2', '..data', 'added', 'folder', 'keep'])
  t.equal(await readFile(world.path('keep'), 'utf8'), 'two')
  t.strictSame(await readdir(world.path('folder')), ['b'])
})

t.test('the same files are not written again', async (t) => {
  const world = new World(t)
  let writes = 0
  const count = async (): Promise<void> => void (writes += 1)
  for (let times = 0; times < 3; times += 1) await world.write({ b: 'x', a: 'y' }, count)
  await world.write({ a: 'y', './b': 'x' }, count)
  t.equal(writes, 1)
  t.strictSame(await world.names(), ['..2026_02_03_04_05_06.1', '..data', 'a', 'b'])
  await world.write({ a: 'y', b: 'X' }, count)
  t.equal(writes, 2)
})

t.test('a volume without files has an empty version', async (t) => {
  const world = new World(t)
  await world.write({})
  t.strictSame(await world.names(), ['..2026_02_03_04_05_06.1', '..data'])
})

/** The expected results are those of k8s.io/kubernetes/pkg/volume/util: validatePath. */
t.test('paths that lead out of the volume, or to its own names, are refused', async (t) => {
  const facts: readonly (readonly [path: string, message: string])[] = [
    ['', 'invalid path: must not be empty: ""'],
    ['/etc/passwd', 'invalid path: must be relative path: /etc/passwd'],
    ['../x', "invalid path: must not contain '..': ../x"],
    ['a/../../x', "invalid path: must not contain '..': a/../../x"],
    ['a/..', "invalid path: must not contain '..': a/.."],
    ['..data', "invalid path: must not start with '..': ..data"],
    ['./..data/x', "invalid path: must not start with '..': ./..data/x"],
    ['é'.repeat(128), 'invalid path: filenames must be less than or equal to 255 characters'],
    ['a/'.repeat(2049), 'invalid path: must be less than or equal to 4096 characters'],
  ]
  const world = new World(t)
  await world.write({ a: 'kept' })
  for (const [path, message] of facts) await t.rejects(world.write({ a: 'new', [path]: 'x' }), { message }, message)
  t.equal(await readFile(world.path('a'), 'utf8'), 'kept')
  await world.write({ 'a..b/..c': 'fine' })
  t.equal(await readFile(world.path('a..b/..c'), 'utf8'), 'fine')
})

t.test('a write that fails leaves the old version', async (t) => {
  const world = new World(t)
  await world.write({ a: 'old' })
  const before = await world.names()
  await t.rejects(world.write({ a: 'new', 'a/b': 'no folder' }), { code: 'EEXIST' })
  await t.rejects(
    world.write({ a: 'new' }, async () => {
      throw new Error('no permission')
    }),
    { message: 'no permission' },
  )
  t.strictSame(await world.names(), before)
  t.equal(await readFile(world.path('a'), 'utf8'), 'old')
  await symlink('left over', world.path('..data_tmp'))
  await world.write({ a: 'new' })
  t.equal(await readFile(world.path('a'), 'utf8'), 'new')
})

t.test('a link ..data that a container has replaced is not followed', async (t) => {
  const world = new World(t)
  const outside = t.testdir({ volume: {}, precious: { file: 'x' } })
  const folder = join(outside, 'volume')
  const writer = new AtomicWriter(folder, { clock: world.clock, random: () => 0, changeOwnership: async () => {} })
  await symlink('../precious', join(folder, '..data'))
  await writer.write(new Map([['a', { data: Buffer.from('y'), mode: 0o644 }]]), async () => {})
  t.equal(await readFile(join(outside, 'precious/file'), 'utf8'), 'x')
  t.equal(await readFile(join(folder, 'a'), 'utf8'), 'y')
})

t.test('a folder at which another volume is mounted stays', async (t) => {
  const world = new World(t)
  await mkdir(world.path('nested'))
  await world.write({ nested: 'hidden', a: 'x' })
  await world.write({ a: 'x' })
  t.ok((await lstat(world.path('nested'))).isDirectory())
})

t.test('files with an owner are given to it, and their visible links', async (t) => {
  const world = new World(t)
  await world.write({ token: { uid: 1000 }, other: 'x' })
  t.strictSame(world.changes, [
    { path: world.path('..2026_02_03_04_05_06.1/token'), uid: 1000 },
    { path: world.path('token'), uid: 1000 },
  ])
})

t.test('permissions do not depend on the umask', async (t) => {
  const world = new World(t)
  const old = process.umask(0o077)
  t.teardown(() => process.umask(old))
  await world.write({ a: { mode: 0o666 }, b: { mode: 0o400 } })
  process.umask(old)
  t.equal((await stat(world.path('a'))).mode & 0o777, 0o666)
  t.equal((await stat(world.path('b'))).mode & 0o777, 0o400)
  t.equal((await stat(world.path('..data'))).mode & 0o777, 0o755)
  await chmod(world.path('..data'), 0o755)
  await writeFile(world.path('..data/extra'), '')
})
