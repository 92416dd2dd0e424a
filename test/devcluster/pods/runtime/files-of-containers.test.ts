import { chmodSync, existsSync, lstatSync, mkdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { folderRemover, groupSetter, ownershipChanger } from '../../../../src/devcluster/pods/runtime/files-of-containers.ts'

// Outside of tests, the prefix is a command that enters the user namespace of the containers. In these tests, the prefix is `env`, which
// runs the command after it without entering a namespace.
const prefix = ['env']

t.test('a folder is removed, whatever its name', async (t) => {
  const folder = join(t.testdir(), '-rf $(touch owned)')
  mkdirSync(folder)
  writeFileSync(join(folder, 'file'), '')
  await folderRemover(prefix)(folder)
  t.equal(existsSync(folder), false)
})

t.test('owners and permissions are changed, and an owner that cannot be changed is kept', async (t) => {
  const folder = t.testdir({ file: '' })
  const file = join(folder, 'file')
  const before = statSync(file)
  await ownershipChanger(prefix)([
    { path: file, gid: before.gid, mode: 0o2640 },
    { path: join(folder, 'absent'), uid: 1 },
  ])
  t.equal(statSync(file).mode & 0o7777, 0o2640)
  t.equal(statSync(file).uid, before.uid)
})

t.test(
  'a group gets all files of a volume, and no file outside of it',
  { skip: process.getuid?.() !== 0 && 'only root can give files to a group' },
  async (t) => {
    const folder = t.testdir({
      outside: '',
      volume: { a: { file: '', '-R $(touch owned)': '' }, link: t.fixture('symlink', '../outside') },
    })
    const volume = join(folder, 'volume')
    const stateOf = (path: string): string => {
      const { gid, mode } = lstatSync(join(folder, path))
      return `${gid} ${(mode & 0o7777).toString(8)}`
    }
    for (const path of ['outside', 'volume/a/file', 'volume/a/-R $(touch owned)']) chmodSync(join(folder, path), 0o600)
    for (const path of ['volume', 'volume/a']) chmodSync(join(folder, path), 0o700)
    const outside = stateOf('outside')

    await groupSetter(prefix)(volume, 2000, { isReadOnly: true })
    t.strictSame(['volume', 'volume/a', 'volume/a/file'].map(stateOf), ['2000 2750', '2000 2750', '2000 640'])
    await groupSetter(prefix)(volume, 2000, { isReadOnly: false })
    t.strictSame(['volume', 'volume/a', 'volume/a/file', 'volume/a/-R $(touch owned)'].map(stateOf), [
      '2000 2770',
      '2000 2770',
      '2000 660',
      '2000 660',
    ])
    t.match(stateOf('volume/link'), /^2000 /)
    t.equal(stateOf('outside'), outside)

    writeFileSync(join(volume, 'new'), '')
    chmodSync(join(volume, 'new'), 0o644)
    await groupSetter(prefix)(volume, 2000, { isReadOnly: false, policy: 'OnRootMismatch' })
    t.match(stateOf('volume/new'), /^2000 644/, 'the root has the group already')
    chmodSync(volume, 0o2750)
    await groupSetter(prefix)(volume, 2000, { isReadOnly: false, policy: 'OnRootMismatch' })
    t.equal(stateOf('volume/new'), '2000 664')
  },
)

const noRights = process.getuid?.() !== 0 && 'only root can list a folder without permissions'

t.test('the owner of the files of a volume may use them, too', { skip: noRights }, async (t) => {
  const folder = t.testdir({ file: '' })
  const file = join(folder, 'file')
  const modesAfter = async (isReadOnly: boolean, policy?: 'OnRootMismatch'): Promise<readonly string[]> => {
    await groupSetter(prefix)(folder, process.getgid!(), { isReadOnly, policy })
    return [folder, file].map((path) => (statSync(path).mode & 0o7777).toString(8))
  }
  const set = (folderMode: number): void => {
    chmodSync(file, 0)
    chmodSync(folder, folderMode)
  }
  for (const [isReadOnly, folderMode, fileMode] of [
    [true, '2550', '440'],
    [false, '2770', '660'],
  ] as const) {
    set(0)
    t.strictSame(await modesAfter(isReadOnly), [folderMode, fileMode])
    set(Number.parseInt(folderMode, 8) & 0o2077)
    t.strictSame(await modesAfter(isReadOnly, 'OnRootMismatch'), [folderMode, fileMode])
    set(Number.parseInt(folderMode, 8))
    t.strictSame(await modesAfter(isReadOnly, 'OnRootMismatch'), [folderMode, '0'])
  }
})
