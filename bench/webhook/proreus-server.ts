/** `serveProreus`: starts a webhook server of Proreus. */
import { readFileSync } from 'node:fs'
import type { CertificateSource } from '../../src/certs/serving-certificate.ts'
import type { Client } from '../../src/client/client.ts'
import { createLogger } from '../../src/index.ts'
import { Metrics } from '../../src/telemetry/metrics.ts'
import type { WebhookServerOptions } from '../../src/webhook/server.ts'
import { createWebhookServer } from '../../src/webhook/server.ts'

/**
 * Starts a server for the webhooks. The function reads the port, the certificate file and the key file from the command line of the
 * process: `node FILE.ts PORT CERT KEY`. The handlers must not use the client, because there is no cluster.
 */
export async function serveProreus(serves: Pick<WebhookServerOptions, 'webhooks' | 'conversions'>): Promise<void> {
  const [port, certFile, keyFile] = process.argv.slice(2) as [string, string, string]
  const cert = readFileSync(certFile, 'utf8')
  const key = readFileSync(keyFile, 'utf8')
  const certificates: CertificateSource = {
    current: () => ({ cert, key, caBundle: cert, notAfter: new Date(8.64e15) }),
    onChange: () => () => undefined,
    start: () => Promise.resolve(),
  }
  const server = createWebhookServer({
    ...serves,
    client: undefined as unknown as Client,
    certificates,
    host: '127.0.0.1',
    port: Number(port),
    logger: createLogger({ level: 'warn' }),
    metrics: new Metrics(),
  })
  await server.start()
}
