import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { removeFolder } from '../../../../src/devcluster/pods/volumes/remove-folder.ts'

t.test('a folder whose paths are longer than the limit of the system is removed', async (t) => {
  const folder = join(t.testdir(), 'deep')
  const script = 'mkdir "$1" && cd "$1" && for i in $(seq 60); do mkdir "$2" && cd -P "$2" || exit; done'
  execFileSync('sh', ['-c', script, 'sh', folder, 'x'.repeat(200)], { env: { PATH: process.env.PATH } })
  t.ok(existsSync(folder))
  await removeFolder(folder)
  t.notOk(existsSync(folder))
  await t.resolves(removeFolder(folder), 'a folder that does not exist is no error')
})
