import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { readPrivateFile, writePrivateFile } from '../../src/certs/private-file.ts'

t.test('a file is for its owner alone, in a folder that is as well, and is replaced as a whole', async (t) => {
  const path = join(t.testdir(), 'new/tls.key')
  for (const content of ['first', 'second']) {
    await writePrivateFile(path, content)
    t.equal(await readPrivateFile(path), content)
    t.equal(statSync(path).mode & 0o777, 0o600)
  }
  t.equal(statSync(join(path, '..')).mode & 0o777, 0o700)
  t.strictSame(readdirSync(join(path, '..')).sort(), ['.gitignore', 'tls.key'])
})

t.test('of a file that cannot be put in its place nothing is left', async (t) => {
  const folder = t.testdir({ 'tls.key': { is: 'a folder' } })
  await t.rejects(writePrivateFile(join(folder, 'tls.key'), 'a key'), { code: 'EISDIR' })
  t.strictSame(readdirSync(folder), ['tls.key'])
})
