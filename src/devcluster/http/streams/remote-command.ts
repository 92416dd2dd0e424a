/** Handles requests for `pods/NAME/exec` and `pods/NAME/attach`, which connect a client to a process of a container. */
import { messageOf } from '../../../api/errors.ts'
import type { Status } from '../../../api/status.ts'
import { untilAborted } from '../../../runtime/waiting.ts'
import type { Logger } from '../../../telemetry/logger.ts'
import { StatusError, badRequest, internalError } from '../../apimachinery/status-error.ts'
import type { ContainerSession } from '../../rest/container-access.ts'
import type { Exchange } from '../exchange.ts'
import { flag } from '../request-info.ts'
import { runSession } from './command-session.ts'
import { spdyStreams } from './remote-streams-spdy.ts'
import { webSocketStreams } from './remote-streams-web-socket.ts'
import type { RemoteStreams, StreamOptions } from './remote-streams.ts'
import type { StreamServices } from './stream-services.ts'
import type { StoredPod } from './target-container.ts'
import { targetContainer } from './target-container.ts'
import { requestedUpgrade } from './upgrade.ts'

const success: Status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success' }

/**
 * Serves an exec or an attach until the process ends or the client disconnects.
 *
 * @throws {StatusError} when the request is refused before the upgrade of the connection; later errors are sent on the error stream
 */
export async function serveCommand(
  exchange: Exchange,
  pod: StoredPod,
  subresource: 'exec' | 'attach',
  { containers, clock, logger }: StreamServices,
): Promise<void> {
  const { query, signal } = exchange
  const target = targetContainer(pod, query.get('container') ?? '')
  // k8s.io/kubernetes/pkg/registry/core/pod: streamLocation.
  if (!pod.isScheduled) throw badRequest(`pod ${pod.name} does not have a host assigned`)
  const upgrade = requestedUpgrade(exchange)
  const options = streamOptions(query)
  const { tty, stdin } = options
  const command = query.getAll('command')
  if (subresource === 'exec' && command.length === 0) throw badRequest('you must specify a command')
  const open = upgrade.protocol === 'websocket' ? webSocketStreams : spdyStreams
  const streams = await open({ exchange, upgrade, options, clock, logger })
  if (streams === undefined) return
  // An attach uses the `tty` of the container instead of the query parameter, because `tty` cannot change after the start of the container
  // (k8s.io/kubernetes/pkg/kubelet: GetAttach).
  const start = (): Promise<ContainerSession> =>
    subresource === 'exec' ? containers.exec(target, { command, tty, stdin }) : containers.attach(target, { tty: target.tty, stdin })
  const result = await resultOf(start, streams, { exchange, logger, isExec: subresource === 'exec' })
  if (result !== undefined) await untilAborted(streams.finish(result), signal, () => undefined)
}

interface RunOptions {
  readonly exchange: Exchange
  readonly logger: Logger
  readonly isExec: boolean
}

/** Runs the session. Resolves with the result of the session, or with undefined when the client has disconnected. */
async function resultOf(
  start: () => Promise<ContainerSession>,
  streams: RemoteStreams,
  { exchange, logger, isExec }: RunOptions,
): Promise<Status | undefined> {
  const { signal } = exchange
  let session: ContainerSession | undefined
  try {
    session = await untilAborted(start(), signal, (late) => late.close())
    const code = await runSession(session, streams, signal)
    return isExec && code !== 0 ? exitStatus(code) : success
  } catch (error) {
    if (signal.aborted) return undefined
    if (error instanceof StatusError) return error.status
    logger.error({ err: error, path: exchange.path }, 'a command in a container failed')
    return internalError(`error ${isExec ? 'executing command in' : 'attaching to'} container: ${messageOf(error)}`).status
  } finally {
    session?.close()
  }
}

/**
 * Returns the streams that the client requests (k8s.io/cri-streaming/pkg/streaming/remotecommand: NewOptions). If the client requests a
 * terminal, stderr is part of stdout.
 */
function streamOptions(query: URLSearchParams): StreamOptions {
  const tty = flag(query, 'tty')
  const options = { tty, stdin: flag(query, 'stdin'), stdout: flag(query, 'stdout'), stderr: flag(query, 'stderr') && !tty }
  if (!options.stdin && !options.stdout && !options.stderr) throw badRequest('you must specify at least 1 of stdin, stdout, stderr')
  return options
}

/** Returns the result of a command that has failed (k8s.io/cri-streaming/pkg/streaming/remotecommand: ServeExec). */
function exitStatus(code: number): Status {
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: `command terminated with non-zero exit code: exit status ${code}`,
    reason: 'NonZeroExitCode',
    details: { causes: [{ reason: 'ExitCode', message: String(code) }] },
  }
}
