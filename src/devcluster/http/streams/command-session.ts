/** Connects a process of a container with the streams of a client, until the process ends or the client disconnects. */
import type { Readable, Writable } from 'node:stream'
import { finished, pipeline } from 'node:stream/promises'
import { untilAborted } from '../../../runtime/waiting.ts'
import type { ContainerSession } from '../../rest/container-access.ts'
import type { RemoteStreams } from './remote-streams.ts'
import { TerminalSizes } from './terminal-sizes.ts'

/**
 * Copies input and output. Resolves with the exit code when the process has ended and all output has been sent. The caller closes the
 * session.
 *
 * @throws the reason of `signal` when the client disconnects before the process ends
 */
export async function runSession(session: ContainerSession, streams: RemoteStreams, signal: AbortSignal): Promise<number> {
  for (const stream of [session.stdin, session.stdout, session.stderr]) if (stream !== undefined) ignoreErrors(stream)
  const outputs = Promise.all([copyOutput(session.stdout, streams.stdout), copyOutput(session.stderr, streams.stderr)])
  const stopInput = streams.stdin === undefined ? ignore : copyInput(streams.stdin, session.stdin)
  if (streams.resize !== undefined) copySizes(streams.resize, session)
  try {
    // After the main process has exited, background processes can still write. As with containerd, the command ends only when all processes
    // have closed their output.
    // The function waits for the end of the output first, and for `exited` second. This order is important for an attach: `exited` resolves
    // only when the container ends, and until then, each call that waits for `exited` stays in memory. If a client disconnects early, its
    // call ends during the first wait.
    await untilAborted(outputs, signal, () => undefined)
    return await untilAborted(session.exited, signal, () => undefined)
  } finally {
    stopInput()
  }
}

/** Adds a listener that ignores errors. If an earlier session has already added this listener to the stream, adds nothing. */
function ignoreErrors(stream: Readable | Writable): void {
  if (!stream.listeners('error').includes(ignore)) stream.on('error', ignore)
}

function ignore(): void {}

/**
 * Resolves when the output has ended. If the client has not requested the output, the output is dropped, so that the process can continue
 * to write.
 */
async function copyOutput(source: Readable | undefined, sink: Writable | undefined): Promise<void> {
  if (source === undefined) sink?.end()
  // An error of the client's stream or of the process's stream ends only this output.
  else await (sink === undefined ? finished(source.resume()) : pipeline(source, sink)).catch(ignore)
}

/**
 * Copies the client's input to the process. When the client's input ends, the input of the process ends too. If the process has closed its
 * input, the client's input is dropped.
 *
 * Returns a function that stops the copying and removes the listeners from the input of the process. All attached clients share this input.
 * Remaining listeners would keep disconnected clients in memory.
 */
function copyInput(source: Readable, sink: Writable | undefined): () => void {
  if (sink === undefined || sink.destroyed) {
    source.resume()
    return ignore
  }
  const drop = (): void => void source.resume()
  sink.once('close', drop)
  source.pipe(sink)
  return () => {
    sink.off('close', drop)
    source.unpipe(sink)
    drop()
  }
}

function copySizes(source: Readable, session: ContainerSession): void {
  const sizes = new TerminalSizes()
  source.on('data', (bytes: Buffer) => {
    for (const { columns, rows } of sizes.add(bytes)) session.resize(columns, rows)
  })
}
