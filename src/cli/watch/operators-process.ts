/** The main module of the process that runs the operators of `proreus dev --watch`. */
import * as nodeModule from 'node:module'
import { Worker } from 'node:worker_threads'
import type { OperatorMessage, StartMessage } from './messages.ts'
import { isParentMessage } from './messages.ts'
import { onLoad } from './loaded-modules.ts'
import { siblingModule } from './sibling-module.ts'
import { sourceFile } from './source-file.ts'

/** The file descriptor of the pipe from the parent process. The descriptors 0 to 2 are the standard streams, and 3 is the IPC channel. */
const parentPipe = 4

/** Resolves when this process has sent the most recent message. */
let sent: Promise<unknown> = Promise.resolve()

function send(message: OperatorMessage): void {
  sent = new Promise((resolve) => process.send?.(message, undefined, undefined, resolve))
}

nodeModule.enableCompileCache()
new Worker(siblingModule('parent-guard'), { workerData: parentPipe }).unref()
onLoad((path) => send({ type: 'loading', file: sourceFile(path) }))
// Ctrl-C in the terminal sends SIGINT to the parent process and to this process. This process ignores SIGINT, because the parent process
// sends a stop message.
process.on('SIGINT', () => undefined)
const stop = new AbortController()
process.on('message', (message) => {
  if (!isParentMessage(message)) return
  if (message.type === 'start') void start(message)
  else stop.abort(new Error('the process is stopped'))
})

async function start(message: StartMessage): Promise<void> {
  // `run-operators.ts` is imported here and not at the top of this file, because `onLoad` reports only modules that are imported after the
  // call of `onLoad`. Thus `onLoad` reports `run-operators.ts` and the modules that `run-operators.ts` imports. If Proreus runs from its
  // sources, a change of one of these modules therefore also restarts the operators.
  const { runOperators } = await import('./run-operators.ts')
  const exitCode = await runOperators(message, stop.signal, send)
  // While the parent process is busy, messages wait in this process. `process.exit` would discard the waiting messages.
  await sent
  process.exit(exitCode)
}
