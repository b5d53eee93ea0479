# Programs of Ruby's OAuth client against a running product. Each case prints a line of JSON; the runner in ../runner says what the world file holds.
require 'json'
require 'net/http'
require 'oauth2'
require 'openssl'
require 'securerandom'

WORLD = JSON.parse(File.read(ENV.fetch('CLIENTS_WORLD')))
TLS = { ca_file: WORLD['ca'] }.freeze
SCOPE = 'read write'

# Runs a case and prints how it ended.
def run(flow)
  line = { client: 'oauth2', flow: flow }
  begin
    yield
  rescue StandardError => error
    line[:failed] = "#{error.class}: #{error.message} (#{error.backtrace.first})"
  end
  puts JSON.generate(line)
  $stdout.flush
end

# Fails the case with the reason.
def expect(condition, reason)
  raise reason.to_s unless condition
end

def issuer(api)
  "#{WORLD['https']}/#{api}"
end

# Registers a client, more members as the administration API takes them.
def registered(api, fields = {})
  answer = Net::HTTP.post(URI("#{WORLD['desk']}/clients/#{api}"), JSON.generate(fields))
  expect(answer.code == '200', "the desk answered #{answer.code}: #{answer.body}")
  JSON.parse(answer.body)
end

def client(api, style, fields = {})
  made = registered(api, fields)
  addresses = { site: issuer(api), authorize_url: "#{issuer(api)}/oauth/authorize", token_url: "#{issuer(api)}/oauth/token" }
  OAuth2::Client.new(made['client_id'], made['client_secret'], **addresses, auth_scheme: style, connection_opts: { ssl: TLS })
end

# A browser whose user signs in and agrees. Answers the parameters that come back to the client.
def browse(address)
  10.times do
    uri = URI(address)
    return URI.decode_www_form(uri.query).to_h if address.start_with?(WORLD['redirect'])

    secure = uri.scheme == 'https'
    answer = Net::HTTP.start(uri.host, uri.port, use_ssl: secure, ca_file: WORLD['ca']) { |http| http.get(uri.request_uri) }
    expect(answer['location'], "the browser ended at #{answer.code}: #{answer.body}")
    address = URI.join(address, answer['location']).to_s
  end
  raise 'the browser is sent around in a circle'
end

def sign_in(client)
  verifier = SecureRandom.urlsafe_base64(48)
  challenge = [OpenSSL::Digest::SHA256.digest(verifier)].pack('m0').tr('+/', '-_').delete('=')
  asked = { redirect_uri: WORLD['redirect'], scope: SCOPE, state: 'the-state', code_challenge: challenge, code_challenge_method: 'S256' }
  found = browse(client.auth_code.authorize_url(asked))
  expect(found['state'] == 'the-state', found)
  client.auth_code.get_token(found['code'], redirect_uri: WORLD['redirect'], code_verifier: verifier)
end

def use(api, token)
  token.get("#{issuer(api)}/things", raise_errors: false).status
end

def code(style, fields = {})
  token = sign_in(client('opaque', style, fields))
  expect(token.params['scope'] == SCOPE, token.params)
  expect(use('opaque', token) == 200, 'the API refuses the token')
  following = token.refresh!
  expect(use('opaque', token) == 401, 'the token of before the refresh is still good')
  expect(use('opaque', following) == 200, 'the refreshed token is refused')
end

def two_workers(api, winners)
  token = sign_in(client(api, :basic_auth))
  won = Array.new(2) do
    Thread.new do
      token.refresh!
    rescue OAuth2::Error => error
      expect(error.code == 'invalid_grant', error.message)
      nil
    end
  end.map(&:value).compact
  expect(won.length == winners, "#{won.length} won")
  won.each { |each| expect(use(api, each) == 200, 'the API refuses a token') } if winners == 2
end

def credentials(style)
  token = client('opaque', style).client_credentials.get_token(scope: 'read')
  expect(token.refresh_token.nil?, 'there is a refresh token')
  expect(use('opaque', token) == 200, 'the API refuses the token')
end

{ basic_auth: 'client_secret_basic', request_body: 'client_secret_post' }.each do |style, name|
  run("code with PKCE and refresh: #{name}") { code(style) }
  run("client credentials: #{name}") { credentials(style) }
end
run('code with PKCE and refresh: public client') { code(:request_body, auth_method: 'none') }
run('refresh in two workers: one wins') { two_workers('opaque', 1) }
run('refresh in two workers with a grace period: both win') { two_workers('graceful', 2) }
