/** The main module of the process that runs the operators of `proreus dev --watch`. */
import * as nodeModule from 'node:module'
import { Worker } from 'node:worker_threads'
import type { OperatorMessage, StartMessage, StopMessage } from './messages.ts'
import { isMessage } from './messages.ts'
import { onLoad } from './loaded-modules.ts'
import { siblingModule } from './sibling-module.ts'
import { sourceFile } from './source-file.ts'

/** The file descriptor of the pipe from the parent process: it comes after those of standard input and output, errors and messages. */
const parentPipe = 4

/** Resolves when the last message has left the process. */
let sent: Promise<unknown> = Promise.resolve()

function send(message: OperatorMessage): void {
  sent = new Promise((resolve) => process.send?.(message, undefined, undefined, resolve))
}

nodeModule.enableCompileCache()
new Worker(siblingModule('parent-guard'), { workerData: parentPipe }).unref()
onLoad((path) => send({ type: 'loading', file: sourceFile(path) }))
// Ctrl-C in the terminal sends SIGINT to both processes. The parent then sends the message to stop.
process.on('SIGINT', () => undefined)
const stop = new AbortController()
process.on('message', (message) => {
  if (!isMessage<StartMessage | StopMessage>(message, 'start', 'stop')) return
  if (message.type === 'start') void start(message)
  else stop.abort(new Error('the process is stopped'))
})

async function start(message: StartMessage): Promise<void> {
  // All other modules are imported after `onLoad`, so that the modules of this repository are watched, too, when they run from their sources.
  const { runOperators } = await import('./run-operators.ts')
  const exitCode = await runOperators(message, stop.signal, send)
  // Messages wait in this process while the parent is busy, and would be lost at its exit.
  await sent
  process.exit(exitCode)
}
