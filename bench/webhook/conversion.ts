/** A conversion webhook of Proreus for a kind with two versions. The command is `node conversion.ts PORT CERT KEY`. */
import { operator } from '../../docs/examples/conversion.ts'
import { serveProreus } from './proreus-server.ts'

await serveProreus({ webhooks: [], conversions: operator.conversions })
