import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { ownStateFolder } from '../../src/cli/dev-owner.ts'
import { until } from '../../src/testing/until.ts'

const needsProc = existsSync('/proc/self/stat') ? {} : { skip: 'there is no /proc' }

/** Returns the fields of /proc/PID/stat after the name of the program. The first field in the result is the third field of the file. */
function statOf(pid: number): string[] {
  return readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ')
}

t.test('a state folder has one owner until it is released', async (t) => {
  const folder = join(t.testdir(), 'new/.proreus')
  const disown = await ownStateFolder(folder)
  t.match(readFileSync(join(folder, 'dev.pid'), 'utf8'), new RegExp(`^${process.pid}\\n`))
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
    t.match(readFileSync(join(folder, 'dev.pid'), 'utf8'), new RegExp(`^${process.pid}\\n`), JSON.stringify(leftover))
    await disown()
  }
  t.notOk(existsSync(join(folder, '.gitignore')), 'the folder existed before')
})

t.test('an owner is recognized by the start of its process', needsProc, async (t) => {
  const started = statOf(process.ppid)[19]
  for (const line of [`started=${started}`, 'started=', 'garbage']) {
    const folder = t.testdir({ 'dev.pid': `${process.ppid}\n${line}\n` })
    await t.rejects(ownStateFolder(folder), { code: 'PRO_STATE_FILE' }, line)
  }
  const folder = t.testdir({ 'dev.pid': `${process.ppid}\nstarted=${Number(started) - 1}\n` })
  await ownStateFolder(folder)
  const own = `${process.pid}\nstarted=${statOf(process.pid)[19]}\n`
  t.equal(readFileSync(join(folder, 'dev.pid'), 'utf8'), own, 'another process had the id of the dead owner')
})

t.test('a killed owner whose parent has not read its exit code yet is replaced', needsProc, async (t) => {
  // The shell starts a child, and is then replaced by `sleep`, which does not wait for the child. The child ends when the shell has been
  // replaced.
  const parent = spawn('sh', ['-c', '(until grep -q sleep /proc/$$/comm; do :; done) & echo $!; exec sleep 60'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  t.teardown(() => parent.kill())
  const [output] = (await once(parent.stdout, 'data')) as [Buffer]
  const zombie = Number(output.toString())
  await until('it has ended', () => statOf(zombie)[0] === 'Z')
  for (const rest of ['', `started=${statOf(zombie)[19]}\n`]) {
    const folder = t.testdir({ 'dev.pid': `${zombie}\n${rest}` })
    await ownStateFolder(folder)
    t.match(readFileSync(join(folder, 'dev.pid'), 'utf8'), new RegExp(`^${process.pid}\\n`))
  }
})

t.test('a folder that cannot be created is reported in one sentence', async (t) => {
  const folder = t.testdir({ file: 'no folder' })
  await t.rejects(ownStateFolder(join(folder, 'file')), {
    code: 'PRO_STATE_FILE',
    message: /file cannot be written: .*: choose another one with --state-dir\.$/,
  })
})
