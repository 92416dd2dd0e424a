import { chmodSync, chownSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { checkPrivateFolder, makePrivateFolder, readPrivateFile, writePrivateFile } from '../../src/certs/private-file.ts'

t.test('a private file has mode 0600 in a folder of mode 0700, and is replaced atomically', async (t) => {
  const path = join(t.testdir(), 'new/tls.key')
  for (const content of ['first', 'second']) {
    await writePrivateFile(path, content)
    t.equal(await readPrivateFile(path), content)
    t.equal(statSync(path).mode & 0o777, 0o600)
  }
  t.equal(statSync(join(path, '..')).mode & 0o777, 0o700)
  t.strictSame(readdirSync(join(path, '..')).sort(), ['.gitignore', 'tls.key'])
})

t.test('a failed write leaves no temporary file', async (t) => {
  const folder = t.testdir({ 'tls.key': { is: 'a folder' } })
  await t.rejects(writePrivateFile(join(folder, 'tls.key'), 'a key'), { code: 'EISDIR' })
  t.strictSame(readdirSync(folder), ['tls.key'])
})

t.test('a file that others can access is refused', async (t) => {
  const path = join(t.testdir({ 'tls.key': 'a key' }), 'tls.key')
  for (const mode of [0o600, 0o400, 0o700]) {
    chmodSync(path, mode)
    t.equal(await readPrivateFile(path), 'a key', mode.toString(8))
  }
  for (const mode of [0o640, 0o620, 0o610, 0o604, 0o602, 0o601]) {
    chmodSync(path, mode)
    await t.rejects(readPrivateFile(path), {
      message: `its mode is 0${mode.toString(8)}, so that others may know or change it, expected 0600`,
    })
  }
  await t.rejects(readPrivateFile(`${path}.none`), { code: 'ENOENT' })
})

t.test('a world-writable folder is refused, unless it is sticky', async (t) => {
  const folder = t.testdir({ file: '' })
  for (const mode of [0o700, 0o755, 0o770, 0o1777]) {
    chmodSync(folder, mode)
    await t.resolves(checkPrivateFolder(folder), mode.toString(8))
  }
  chmodSync(folder, 0o757)
  await t.rejects(checkPrivateFolder(folder), { message: 'everybody may write to its folder (mode 0757), expected 0700' })
  await t.resolves(checkPrivateFolder(join(folder, 'none')), 'a missing one is created later')
  await t.rejects(checkPrivateFolder(join(folder, 'file', 'none')), { code: 'ENOTDIR' })
})

t.test('files of another user are refused', { skip: process.getuid?.() !== 0 && 'only root gives files away' }, async (t) => {
  const folder = t.testdir({ 'tls.key': 'a key' })
  const path = join(folder, 'tls.key')
  chmodSync(path, 0o600)
  chownSync(path, 4321, 0)
  await t.rejects(readPrivateFile(path), { message: 'it belongs to user 4321, and this process runs as user 0' })
  chownSync(folder, 4321, 0)
  await t.rejects(checkPrivateFolder(folder), { message: 'its folder belongs to user 4321, and this process runs as user 0' })
  chownSync(folder, 0, 0)
})

t.test('a created folder gets a .gitignore, once', async (t) => {
  const folder = join(t.testdir(), 'a/b')
  await makePrivateFolder(folder)
  t.strictSame(readdirSync(join(folder, '..')), ['b'])
  t.equal(statSync(join(folder, '.gitignore')).mode & 0o777, 0o600)
  writeFileSync(join(folder, '.gitignore'), 'mine')
  chmodSync(folder, 0o755)
  await makePrivateFolder(folder)
  t.equal(statSync(folder).mode & 0o777, 0o755)
  t.equal(statSync(join(folder, '.gitignore')).size, 'mine'.length)
})

t.test('concurrent writes of one file do not fail, and one of them wins', async (t) => {
  const path = join(t.testdir(), 'tls.key')
  const contents = ['first', 'second', 'third']
  await Promise.all(contents.map((content) => writePrivateFile(path, content)))
  t.ok(contents.includes(await readPrivateFile(path)))
  t.strictSame(readdirSync(join(path, '..')), ['tls.key'])
})
