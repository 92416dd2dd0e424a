/** Tests of programs that cannot be started, because Proreus has too many open files. Node.js then returns a process without streams. */
import { spawnSync } from 'node:child_process'
import { closeSync, openSync, readdirSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { ContainerStartError } from '../../../../src/devcluster/pods/driver.ts'
import { Connector } from '../../../../src/devcluster/pods/namespaces/connector.ts'
import { HeldProgram } from '../../../../src/devcluster/pods/namespaces/held-program.ts'
import { execScript } from '../../../../src/devcluster/pods/namespaces/process-scripts.ts'
import { ProgramError } from '../../../../src/devcluster/pods/namespaces/programs.ts'
import type { StartedProcess } from '../../../../src/devcluster/pods/namespaces/sandbox-process.ts'
import { startProcess } from '../../../../src/devcluster/pods/namespaces/sandbox-process.ts'
import { until } from '../../../../src/testing/until.ts'

const limit = 128

/** Runs `work` while this process can open at most `free` more files. */
async function withFreeFiles<T>(free: number, work: () => Promise<T>): Promise<T> {
  const opened: number[] = []
  try {
    for (;;) opened.push(openSync('/dev/null', 'r'))
  } catch {
    for (const fd of opened.splice(0, free)) closeSync(fd)
  }
  try {
    return await work()
  } finally {
    for (const fd of opened) closeSync(fd)
  }
}

/** The paths of the open files of this process. */
function openFiles(): readonly string[] {
  return readdirSync('/proc/self/fd').map((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`)
    } catch {
      return 'closed in the meantime'
    }
  })
}

const { status, stderr, error } = spawnSync('prlimit', [`--pid=${process.pid}`, `--nofile=${limit}:`], { encoding: 'utf8' })
const skip = status !== 0 && `the number of open files cannot be limited: ${error?.message ?? stderr}`

t.test('a program that runs on', { skip }, async (t) => {
  const failed = await withFreeFiles(0, () => HeldProgram.start(['cat'])).catch((error: unknown) => error)
  t.type(failed, ProgramError)
  t.match(failed, { message: 'cat could not be started: spawn cat EMFILE', cause: { code: 'EMFILE' } })
  const program = await HeldProgram.start(['cat'])
  program.writeLine('line')
  t.equal(await program.nextLine(), 'line')
  await program.close()
})

t.test('a connector, which starts its process with the next connection', { skip }, async (t) => {
  const connector = await withFreeFiles(0, async () => {
    const connector = new Connector([])
    await t.rejects(connector.connect(1, '127.0.0.1'), { cause: { code: 'EMFILE' } })
    return connector
  })
  await t.rejects(connector.connect(1, '127.0.0.1'), { code: 'ECONNREFUSED' })
  await connector.close()
})

t.test('a process of a container, whose pipes are closed', { skip }, async (t) => {
  const pipes = join(t.testdir({}), 'main')
  const start = (tty: boolean): Promise<StartedProcess> =>
    startProcess({ enter: [], script: execScript({ tty }), lists: [['true']], tty, stdin: true, pipes })
  const failed = await withFreeFiles(0, () => start(true)).catch((error: unknown) => error)
  t.type(failed, ContainerStartError)
  t.match(failed, { message: 'the process could not be started', cause: { message: 'sh could not be started: spawn sh EMFILE' } })
  let failures = 0
  for (let free = 0; free < 16; free += 1) {
    const process = await withFreeFiles(free, () => start(false)).catch((error: unknown) => error)
    if (process instanceof Error) {
      if (process instanceof ContainerStartError) failures += 1
      continue
    }
    const { stdin, stdout, stderr } = process as StartedProcess
    stdin!.destroy()
    stdout.resume()
    stderr!.resume()
  }
  t.ok(failures > 0, 'after the pipes were opened, too few files were left for the process')
  await until('all pipes are closed', () => !openFiles().some((file) => file.startsWith(pipes)))
})
