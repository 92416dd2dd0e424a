/**
 * The main module of a process with a terminal. The process reports its pid and its terminal. Then the process replaces itself by the
 * program of a container, with execve(2). No shell starts the program, because a shell drops environment variables with names such as
 * `spring.profiles`.
 */
import { spawnSync } from 'node:child_process'
import { readFileSync, writeSync } from 'node:fs'
import type { Program } from './messages.ts'
import type { TerminalReport } from './terminal.ts'
import { controlDescriptor } from './terminal.ts'

const { file, args, environment } = JSON.parse(readFileSync(controlDescriptor, 'utf8')) as Program
const { stdout } = spawnSync('tty', { stdio: ['inherit', 'pipe', 'ignore'], encoding: 'utf8' })
writeSync(controlDescriptor, `${JSON.stringify({ pid: process.pid, path: (stdout ?? '').trim() } satisfies TerminalReport)}\n`)
// By default, Node.js ignores these signals, and execve(2) preserves this setting, so the program would ignore them, too. If a signal has a
// handler, execve(2) resets the signal to its default action.
for (const signal of ['SIGPIPE', 'SIGXFSZ'] as const) process.on(signal, () => undefined)
if (process.execve === undefined) throw new Error('Node.js cannot replace its process on this machine')
process.execve(file, args, Object.fromEntries(environment))
