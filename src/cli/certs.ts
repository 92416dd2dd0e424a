/** `proreus certs`: issues, shows and verifies the certificates that operators use outside a cluster. */
import { Command } from 'commander'
import { systemClock } from '../runtime/clock.ts'
import { openFileCertificates } from '../certs/file-store.ts'
import { describeCertificates, verifyCertificates } from '../certs/inspect.ts'
import { createLogger } from '../telemetry/logger.ts'
import { Exit } from './exit.ts'

interface IssueOptions {
  certDir: string
  name: string[]
  ip: string[]
}

const collect = (value: string, before: string[]): string[] => [...before, value]

export function certsCommand(): Command {
  const certs = new Command('certs').description('Issue, show and verify the CA, key and certificate of a run outside a cluster.')
  const directory = ['--cert-dir <folder>', 'where ca.crt, ca.key, tls.crt and tls.key are', 'certs'] as const
  certs
    .command('issue')
    .description('Make a CA and a certificate, or replace what is expired or damaged. What is still good stays.')
    .option(...directory)
    .option('--name <dns>', 'DNS name of the certificate; may be repeated', collect, ['localhost'])
    .option('--ip <address>', 'IP address of the certificate; may be repeated', collect, ['127.0.0.1'])
    .action(async ({ certDir, name, ip }: IssueOptions) => {
      const logger = createLogger({ level: 'warn', pretty: process.stderr.isTTY })
      await openFileCertificates({ directory: certDir, names: name, ips: ip, clock: systemClock, logger })
      process.stdout.write(await describeCertificates(certDir, systemClock.now()))
    })
  certs
    .command('show')
    .description('Print subject, names, validity and fingerprint of the CA and the certificate.')
    .option(...directory)
    .action(async ({ certDir }: { certDir: string }) => {
      process.stdout.write(await describeCertificates(certDir, systemClock.now()))
    })
  certs
    .command('verify')
    .description('Check that key and certificate belong together, are valid now, and are signed by the CA. Exit 1 when not.')
    .option(...directory)
    .option('--name <dns>', 'DNS name that the certificate must have; may be repeated', collect, [])
    .option('--ip <address>', 'IP address that the certificate must have; may be repeated', collect, [])
    .action(async ({ certDir, name, ip }: IssueOptions) => {
      const problems = await verifyCertificates(certDir, { names: name, ips: ip }, systemClock.now())
      for (const problem of problems) process.stderr.write(`${problem}\n`)
      if (problems.length > 0) throw new Exit(1)
      process.stdout.write(`The certificate in ${certDir} is valid.\n`)
    })
  return certs
}
