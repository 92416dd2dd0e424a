/** A cluster network for tests, in a separate network namespace. */
import type { Socket } from 'node:net'
import type { Test } from 'tap'
import { Connector } from '../../../../../src/devcluster/pods/namespaces/connector.ts'
import type { ClusterNetworkOptions } from '../../../../../src/devcluster/pods/network/cluster-network.ts'
import { ClusterNetwork } from '../../../../../src/devcluster/pods/network/cluster-network.ts'
import { recordingLogger } from '../../../../support/recording-logger.ts'
import { TestNamespace } from './test-namespaces.ts'

export interface RunningNetwork {
  readonly network: ClusterNetwork
  readonly namespace: TestNamespace
  readonly lines: readonly string[]
  /** Connects to a TCP port in the network. Rejects when the connection is refused. */
  connect(address: string, port: number): Promise<Socket>
}

/** Starts a network, and stops it at the end of the test. */
export async function startNetwork(t: Test, options: Partial<ClusterNetworkOptions> = {}): Promise<RunningNetwork> {
  const namespace = await TestNamespace.cluster(t)
  const { logger, lines } = recordingLogger()
  const acceptApiServer = (socket: Socket): void => void socket.destroy()
  const network = await ClusterNetwork.start({ enterNetwork: namespace.enter, acceptApiServer, logger, ...options })
  t.teardown(() => network.close())
  const connector = new Connector(namespace.enter)
  t.teardown(() => connector.close())
  return { network, namespace, lines, connect: (address, port) => connector.connect(port, address) }
}

/**
 * Returns the source code of an HTTP server that listens on `port`. The server responds to each request with `text`, a space and the IP
 * address of the client.
 */
export function httpServer(text: string, port: number): string {
  return `import { createServer } from 'node:http'
    createServer((request, response) => response.end(${JSON.stringify(`${text} `)} + request.socket.remoteAddress))
      .listen(${port}, '0.0.0.0', () => console.log('listening'))`
}
