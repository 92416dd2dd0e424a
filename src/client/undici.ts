/**
 * The modules of undici that the client uses. undici's main module is not imported, for two reasons. The main module also loads fetch,
 * WebSocket, caches and mocks, which take 13 MiB of memory. The main module also replaces the dispatcher of the global `fetch`.
 */
import methods from 'undici/lib/api/index.js'
import buildConnector from 'undici/lib/core/connect.js'
import Agent from 'undici/lib/dispatcher/agent.js'
import Dispatcher from 'undici/lib/dispatcher/dispatcher.js'
import Pool from 'undici/lib/dispatcher/pool.js'
import ProxyAgent from 'undici/lib/dispatcher/proxy-agent.js'
import Socks5ProxyAgent from 'undici/lib/dispatcher/socks5-proxy-agent.js'

// The methods are added to `Dispatcher` as in undici's main module. The client needs `request`, and proxies need `connect`.
Object.assign(Dispatcher.prototype, methods)

export { Agent, buildConnector, Pool, ProxyAgent, Socks5ProxyAgent }
