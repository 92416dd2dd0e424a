/**
 * A control plane for tests, whose API server can be restarted. After a restart, the API server has the same address, objects and
 * credentials.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import { ApiServerProcess } from '../../../drills/api-server-process.ts'
import type { Client } from '../../../src/client/client.ts'
import { createClient } from '../../../src/client/client.ts'
import type { Connection } from '../../../src/client/connection.ts'
import { startDevCluster } from '../../../src/devcluster/dev-cluster.ts'
import { silentLogger } from '../../../src/telemetry/logger.ts'
import { startControlPlane } from '../../../src/testing/control-plane.ts'

export interface RestartableControlPlane {
  /** The connection and the client of the administrator. */
  readonly connection: Connection
  readonly client: Client
  /** Resolves when the API server serves requests again. */
  restart(): Promise<void>
}

export interface RestartableOptions {
  readonly namespaces: readonly string[]
  /** The capacity of the only node. */
  readonly capacity: Readonly<Record<string, string>>
}

/** Starts a control plane, which is stopped at the end of the test. */
export function startRestartable(t: Test, options: RestartableOptions): Promise<RestartableControlPlane> {
  return process.env.PROREUS_BACKEND === 'binaries' ? startReal(t, options) : startEmbedded(t, options)
}

const nodesOf = ({ capacity }: RestartableOptions) => [{ name: 'node', labels: { project: 'test' }, capacity }]

/**
 * Starts an embedded cluster in this process. The method `restart` stops the API server and the controllers of the cluster, and starts them
 * again.
 */
async function startEmbedded(t: Test, options: RestartableOptions): Promise<RestartableControlPlane> {
  const directory = await mkdtemp(join(tmpdir(), 'proreus-'))
  const { namespaces } = options
  const start = (port: number) =>
    startDevCluster({
      port,
      portRequired: true,
      directory,
      keepObjects: true,
      namespaces,
      nodes: nodesOf(options),
      logger: silentLogger(),
    })
  let cluster = await start(0)
  const { connection, port } = cluster
  const client = createClient(connection)
  t.teardown(async () => {
    await client.close()
    await cluster.close()
    await rm(directory, { recursive: true })
  })
  return {
    connection,
    client,
    async restart() {
      await cluster.close()
      cluster = await start(port)
    },
  }
}

/**
 * Starts the programs of a control plane. The method `restart` kills kube-apiserver and starts it again. The other programs continue to
 * run.
 */
async function startReal(t: Test, options: RestartableOptions): Promise<RestartableControlPlane> {
  const controlPlane = await startControlPlane({ backend: 'binaries', namespaces: options.namespaces, nodes: nodesOf(options) })
  const apiServer = new ApiServerProcess(controlPlane)
  t.teardown(async () => {
    await controlPlane.stop()
    apiServer.stop()
  })
  return { ...controlPlane, restart: () => apiServer.restart(0) }
}
