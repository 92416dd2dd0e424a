/** Handles GET of `pods/NAME/log`. The response is the log of a container as text. */
import { pipeline } from 'node:stream/promises'
import { untilAborted } from '../../../runtime/waiting.ts'
import { expectEarlyRequest } from '../../../runtime/early-request.ts'
import type { Exchange } from '../exchange.ts'
import { respond, setWarnings } from '../respond.ts'
import { logOptions } from './log-options.ts'
import type { StreamServices } from './stream-services.ts'
import type { StoredPod } from './target-container.ts'
import { targetContainer } from './target-container.ts'

/**
 * Sends the log until the log ends or the client disconnects. The log is read only as fast as the client receives it. For a Pod without a
 * node, the response is empty (k8s.io/kubernetes/pkg/registry/core/pod: LogLocation).
 *
 * @throws {StatusError} for invalid options, an unknown container, and a container without a log.
 */
export async function sendLog(
  exchange: Exchange,
  findPod: () => StoredPod,
  podName: string,
  { containers, clock, logger }: StreamServices,
): Promise<void> {
  const { query, response, signal } = exchange
  const options = logOptions(query, podName, clock.now())
  const pod = findPod()
  const target = targetContainer(pod, query.get('container') ?? '')
  if (!pod.isScheduled) return respond(exchange, { code: 204, body: '' })
  const lines = await untilAborted(containers.log(target, options, signal), signal, (late) => late.destroy())
  lines.once('error', (error) => {
    // When the client disconnects, the pipeline destroys `lines` with an error. This error is not logged.
    if (!signal.aborted) logger.error({ err: error, path: exchange.path }, 'a log broke off')
  })
  setWarnings(exchange)
  // The headers are sent before the first line. A client that follows a quiet log thus learns at once that the request has succeeded.
  response.writeHead(200, { 'Content-Type': 'text/plain', 'Cache-Control': 'no-cache, private' })
  response.flushHeaders()
  expectEarlyRequest(response.socket)
  await pipeline(lines, response)
}
