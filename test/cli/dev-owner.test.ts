import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { ownStateFolder } from '../../src/cli/dev-owner.ts'

t.test('a folder has one owner until that gives it up', async (t) => {
  const folder = join(t.testdir(), 'new/.proreus')
  const disown = await ownStateFolder(folder)
  t.equal(readFileSync(join(folder, 'dev.pid'), 'utf8'), `${process.pid}\n`)
  t.equal(readFileSync(join(folder, '.gitignore'), 'utf8'), '*\n', 'keys are to be there, which are not for git')
  t.equal(statSync(folder).mode & 0o777, 0o700)
  await disown()
  t.notOk(existsSync(join(folder, 'dev.pid')))
})

t.test('a living owner is named, with what to do', async (t) => {
  const folder = t.testdir({ 'dev.pid': `${process.ppid}\n` })
  await t.rejects(ownStateFolder(folder), {
    code: 'PRO_STATE_FILE',
    message: `Process ${process.ppid} runs proreus dev with ${folder} already: stop it, choose another folder with --state-dir, or delete ${folder}/dev.pid if that process is something else.`,
  })
  t.equal(readFileSync(join(folder, 'dev.pid'), 'utf8'), `${process.ppid}\n`)
})

t.test('what a dead owner, or a damaged file, has left is replaced', async (t) => {
  const { pid } = spawnSync(process.execPath, ['--version'])
  const folder = t.testdir()
  for (const left of [String(pid), '', 'garbage', '-1', String(process.pid)]) {
    writeFileSync(join(folder, 'dev.pid'), left)
    const disown = await ownStateFolder(folder)
    t.equal(readFileSync(join(folder, 'dev.pid'), 'utf8'), `${process.pid}\n`, JSON.stringify(left))
    await disown()
  }
  t.notOk(existsSync(join(folder, '.gitignore')), 'the folder was there')
})

t.test('a folder that cannot be is one sentence', async (t) => {
  const folder = t.testdir({ file: 'no folder' })
  await t.rejects(ownStateFolder(join(folder, 'file')), {
    code: 'PRO_STATE_FILE',
    message: /file cannot be written: .*: choose another one with --state-dir\.$/,
  })
})
