import { generate } from 'selfsigned'

const make = async () => {
  const { cert, private: key } = await generate([{ name: 'commonName', value: 'guild.test' }], {
    keyType: 'ec',
    curve: 'P-256',
    algorithm: 'sha256',
  })
  return { certificate: cert, key }
}

/** Two client certificates, each with its private key. */
export const [client, other] = await Promise.all([make(), make()])
