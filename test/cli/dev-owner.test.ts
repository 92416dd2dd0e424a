import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { ownStateFolder } from '../../src/cli/dev-owner.ts'

t.test('a state folder has one owner until it is released', async (t) => {
  const folder = join(t.testdir(), 'new/.proreus')
  const disown = await ownStateFolder(folder)
  t.equal(readFileSync(join(folder, 'dev.pid'), 'utf8'), `${process.pid}\n`)
  t.equal(readFileSync(join(folder, '.gitignore'), 'utf8'), '*\n', 'keys must not get into git')
  t.equal(statSync(folder).mode & 0o777, 0o700)
  await disown()
  t.notOk(existsSync(join(folder, 'dev.pid')))
})

t.test('a running owner is named with advice', async (t) => {
  const folder = t.testdir({ 'dev.pid': `${process.ppid}\n` })
  await t.rejects(ownStateFolder(folder), {
    code: 'PRO_STATE_FILE',
    message: `Process ${process.ppid} runs proreus dev with ${folder} already: stop it, choose another folder with --state-dir, or delete ${folder}/dev.pid if that process is something else.`,
  })
  t.equal(readFileSync(join(folder, 'dev.pid'), 'utf8'), `${process.ppid}\n`)
})

t.test('the lock of a dead owner, or a damaged one, is replaced', async (t) => {
  const { pid } = spawnSync(process.execPath, ['--version'])
  const folder = t.testdir()
  for (const leftover of [String(pid), '', 'garbage', '-1', String(process.pid)]) {
    writeFileSync(join(folder, 'dev.pid'), leftover)
    const disown = await ownStateFolder(folder)
    t.equal(readFileSync(join(folder, 'dev.pid'), 'utf8'), `${process.pid}\n`, JSON.stringify(leftover))
    await disown()
  }
  t.notOk(existsSync(join(folder, '.gitignore')), 'the folder existed before')
})

t.test('a folder that cannot be created is reported in one sentence', async (t) => {
  const folder = t.testdir({ file: 'no folder' })
  await t.rejects(ownStateFolder(join(folder, 'file')), {
    code: 'PRO_STATE_FILE',
    message: /file cannot be written: .*: choose another one with --state-dir\.$/,
  })
})
