/**
 * The handlers of `/debug`. They return profiles of the process, the keys in its work queues, the types in its cache, its memory usage, its
 * open handles and its log level. A PUT request changes the log level.
 */
import { isIP } from 'node:net'
import type { Clock } from '../runtime/clock.ts'
import type { Logger } from '../telemetry/logger.ts'
import type { QueueEntry } from '../controller/queue.ts'
import type { AccessFilter, Answer, Handler } from './http-endpoint.ts'
import { ProreusError, messageOf } from '../api/errors.ts'
import { profileHandlers } from './debug-profiles.ts'
import { setLogLevel } from './log-level.ts'

export interface DebuggedQueue {
  readonly size: number
  entries(limit: number): readonly QueueEntry[]
}

export interface DebugSources {
  /** The work queues, keyed by the name of the controller. */
  readonly queues: () => ReadonlyMap<string, DebuggedQueue>
  /** The types in the cache. */
  readonly cache: () => readonly object[]
  readonly memoryLimitBytes: number
  readonly clock: Clock
  readonly logger: Logger
}

/**
 * Maximum number of keys of each queue in a response. The limit exists because the whole response is in memory, and a queue may contain a
 * key for every object of a cluster.
 */
const maxKeys = 1000

/** The paths of the handlers. */
export const debugPaths: readonly string[] = [
  '/debug',
  '/debug/',
  '/debug/heap',
  '/debug/profile',
  '/debug/queues',
  '/debug/cache',
  '/debug/process',
  '/debug/log-level',
]

const index = `/debug/heap                        heap snapshot; blocks the process while it is taken
/debug/profile?seconds=10          CPU profile
/debug/queues?limit=${maxKeys}           keys of the work queues
/debug/cache                       types in the cache
/debug/process                     memory, open handles
/debug/log-level                   the log level; PUT /debug/log-level?level=debug changes it
`

/**
 * Returns the handlers of the paths in `debugPaths`. A PUT request for `/debug/log-level` changes the log level. A PUT request for any
 * other path is answered with 405.
 */
export function debugHandlers({ queues, cache, memoryLimitBytes, clock, logger }: DebugSources): Handler[] {
  const routes: readonly Handler[] = [
    ...profileHandlers({ clock, memoryLimitBytes }),
    ({ pathname }) => (pathname === '/debug' || pathname === '/debug/' ? { code: 200, body: index } : undefined),
    (url) => (url.pathname === '/debug/queues' ? queuesAnswer(queues(), url) : undefined),
    ({ pathname }) => (pathname === '/debug/cache' ? json({ types: cache() }) : undefined),
    ({ pathname }) => (pathname === '/debug/process' ? json(processState()) : undefined),
    ({ pathname }) => (pathname === '/debug/log-level' ? { code: 200, body: `${logger.level}\n` } : undefined),
  ]
  const setLevel: Handler = ({ pathname, searchParams }, { method }) => {
    if (method !== 'PUT') return undefined
    if (pathname !== '/debug/log-level') return { code: 405, body: 'only GET is answered here\n' }
    try {
      setLogLevel(logger, searchParams.get('level') ?? '')
    } catch (error) {
      if (!(error instanceof ProreusError)) throw error
      return { code: 400, body: `${messageOf(error)}\n` }
    }
    return { code: 200, body: `${logger.level}\n` }
  }
  return [setLevel, ...routes]
}

function queuesAnswer(queues: ReadonlyMap<string, DebuggedQueue>, { searchParams }: URL): Answer {
  const limit = Number(searchParams.get('limit') ?? maxKeys)
  if (!Number.isInteger(limit) || limit < 0 || limit > maxKeys)
    return { code: 400, body: `limit is a whole number of at most ${maxKeys}\n` }
  return json({
    queues: [...queues].map(([controller, queue]) => ({ controller, keys: queue.size, entries: queue.entries(limit) })),
  })
}

function processState(): object {
  const handles: Record<string, number> = {}
  for (const type of process.getActiveResourcesInfo()) handles[type] = (handles[type] ?? 0) + 1
  return { uptimeSeconds: process.uptime(), memory: process.memoryUsage(), resources: process.resourceUsage(), handles }
}

function json(content: object): Answer {
  return { code: 200, body: `${JSON.stringify(content, null, 2)}\n`, contentType: 'application/json' }
}

/**
 * Permits a request if its Host header is an IP address or `localhost`, and if no web page has sent the request. A debug server on a
 * loopback address requires no authentication. The user of this machine may visit a web page that sends requests to this server. Without
 * this filter, the web page could do the following:
 *
 * - With DNS rebinding, the web page could read the responses. The Host header then contains the domain of the web page.
 * - Without DNS rebinding, the web page could cause expensive requests, but could not read the responses.
 */
export const loopbackHostsOnly: AccessFilter = ({ headers }) => {
  const { host = '', origin, 'sec-fetch-site': site = 'none' } = headers
  const name = host.replace(/:\d+$/, '').replace(/^\[(.*)\]$/, '$1')
  if (isIP(name) === 0 && name.toLowerCase() !== 'localhost')
    return { code: 403, body: 'the Host header must be localhost or an IP address\n' }
  // `Sec-Fetch-Site` is `none` when a user has typed the address in a browser. Only browsers send this header. This server serves no web
  // pages, so requests with the value `same-origin` are refused too.
  if (origin !== undefined || site !== 'none') return { code: 403, body: 'requests of web pages are not answered here\n' }
  return undefined
}
