import { spawnSync } from 'node:child_process'
import { lstat, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import type { OwnershipChange } from '../../../../src/devcluster/pods/volumes/ownership.ts'
import { changeOwnership, setGroup } from '../../../../src/devcluster/pods/volumes/ownership.ts'

/** Returns the changes of ownership in their order, with paths relative to `folder`. */
async function changesOf(folder: string, isReadOnly: boolean, policy?: 'Always' | 'OnRootMismatch'): Promise<OwnershipChange[]> {
  const changes: OwnershipChange[] = []
  await setGroup(folder, 2000, { isReadOnly, policy, change: async (batch) => void changes.push(...batch) })
  return changes.map((change) => ({ ...change, path: change.path.slice(folder.length) }))
}

/** The expected results are those of k8s.io/kubernetes/pkg/volume/volume_linux.go: changeFilePermission and walkDeep. */
t.test('the group gets all files, the root last', async (t) => {
  const old = process.umask(0o022)
  t.teardown(() => process.umask(old))
  const folder = t.testdir({ a: { file: 'x' }, link: t.fixture('symlink', '/etc/passwd') })
  const changes = await changesOf(folder, false)
  t.strictSame(
    [...changes].sort((a, b) => (a.path < b.path ? -1 : 1)),
    [
      { path: '', gid: 2000, mode: 0o2775 },
      { path: '/a', gid: 2000, mode: 0o2775 },
      { path: '/a/file', gid: 2000, mode: 0o664 },
      { path: '/link', gid: 2000 },
    ],
  )
  const order = changes.map(({ path }) => path)
  t.equal(order.at(-1), '')
  t.ok(order.indexOf('/a/file') < order.indexOf('/a'))
  t.match(
    (await changesOf(folder, true)).find(({ path }) => path === '/a/file'),
    { mode: 0o644 },
    'a read-only volume only becomes readable',
  )
})

t.test('with OnRootMismatch nothing changes if the root is as it should be', async (t) => {
  const folder = t.testdir({ file: 'x' })
  t.equal((await changesOf(folder, false, 'OnRootMismatch')).length, 2)
  if (process.getuid?.() !== 0) {
    t.comment('not shown: only root can give a folder to another group')
    return
  }
  await changeOwnership([{ path: folder, gid: 2000, mode: 0o2770 }])
  t.strictSame(await changesOf(folder, false, 'OnRootMismatch'), [])
  t.equal((await changesOf(folder, false, 'Always')).length, 2)
  await changeOwnership([{ path: folder, mode: 0o2750 }])
  t.equal((await changesOf(folder, false, 'OnRootMismatch')).length, 2)
})

t.test('a volume of many files is changed in parts, and one of deep folders without a recursion', async (t) => {
  const folder = t.testdir({})
  await Promise.all(Array.from({ length: 1500 }, (_, index) => writeFile(join(folder, `f${index}`), '')))
  const deep = join(folder, 'd/'.repeat(500))
  await mkdir(deep, { recursive: true })
  const sizes: number[] = []
  await setGroup(folder, 2000, { isReadOnly: false, change: async (batch) => void sizes.push(batch.length) })
  t.strictSame(sizes, [1000, 1000, 1])
})

t.test('the rights of this process', async (t) => {
  const folder = t.testdir({ file: 'x', target: 'y', link: t.fixture('symlink', 'target') })
  const isRoot = process.getuid?.() === 0
  const own = process.getgid!()
  const changes = [
    { path: join(folder, 'file'), gid: 2000, mode: 0o640 },
    { path: join(folder, 'link'), gid: 2000 },
    { path: join(folder, 'gone'), gid: 1 },
  ]
  await changeOwnership(changes)
  const { gid, mode } = await lstat(join(folder, 'file'))
  t.strictSame([gid, mode & 0o7777], [isRoot ? 2000 : own, 0o640])
  t.equal((await lstat(join(folder, 'target'))).gid, own, 'a link is not followed')
})

t.test('without the right to change an owner, the files keep it', async (t) => {
  const nobody = 65534
  const folder = t.testdir({ file: 'x' })
  const module = new URL('../../../../src/devcluster/pods/volumes/ownership.ts', import.meta.url).href
  const script = `
    import { changeOwnership } from ${JSON.stringify(module)}
    await changeOwnership([{ path: process.argv[1], uid: 12345, mode: 0o600 }])
    console.log('done')`
  const user = process.getuid?.() === 0 ? { uid: nobody, gid: nobody } : {}
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script, join(folder, 'file')], {
    encoding: 'utf8',
    ...user,
  })
  if (/EACCES|MODULE_NOT_FOUND|ENOENT/.test(stderr)) {
    t.comment(`not shown: another user cannot read the sources: ${stderr.slice(0, 200)}`)
    return
  }
  t.equal(stdout, 'done\n', stderr)
  t.equal((await lstat(join(folder, 'file'))).uid, process.getuid!())
})
