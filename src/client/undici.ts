/**
 * The modules of undici that the client uses. The whole package also has fetch, WebSocket, caches and mocks: 13 MiB of memory in every process.
 * It also replaces the dispatcher of the global `fetch`.
 */
import methods from 'undici/lib/api/index.js'
import buildConnector from 'undici/lib/core/connect.js'
import Agent from 'undici/lib/dispatcher/agent.js'
import Dispatcher from 'undici/lib/dispatcher/dispatcher.js'
import ProxyAgent from 'undici/lib/dispatcher/proxy-agent.js'
import Socks5ProxyAgent from 'undici/lib/dispatcher/socks5-proxy-agent.js'

// The main module of undici adds these methods, too: `request` and, for proxies, `connect`.
Object.assign(Dispatcher.prototype, methods)

export { Agent, buildConnector, ProxyAgent, Socks5ProxyAgent }
