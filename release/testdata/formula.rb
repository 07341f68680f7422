# Reads a formula as Homebrew would: ruby formula.rb FORMULA SYSTEM ARCH UNPACKED PREFIX
# Installs from the unpacked archive below the prefix, runs the formula's own test there, and prints what it would download.
require "fileutils"
require "json"
require "pathname"
require "tmpdir"

SYSTEM, ARCH = ARGV[1], ARGV[2]

# Only what Homebrew's own class has and our formula uses: another word is an error here.
class Formula
  class << self
    attr_reader :values

    %w[desc homepage version license url sha256].each do |word|
      define_method(word) do |value = nil|
        return (@values ||= {})[word] if value.nil?
        raise "#{word} twice" if (@values ||= {}).key?(word)

        @values[word] = value
      end
    end

    def on_macos = SYSTEM == "darwin" && yield
    def on_linux = SYSTEM == "linux" && yield
    def on_arm = ARCH == "arm64" && yield
    def on_intel = ARCH == "amd64" && yield
    def test(&block) = define_method(:run_test, &block)
  end

  # A directory that takes files, by their names or under others.
  class Place < Pathname
    def install(*files)
      files.flatten.each do |file|
        from, to = file.is_a?(Hash) ? file.first : [file, File.basename(file)]
        raise "there is no #{from}" unless File.file?(from)

        FileUtils.mkdir_p(self)
        FileUtils.cp(from, join(to), preserve: true)
      end
    end
  end

  PREFIX = Place.new(ARGV[4])
  def bin = Place.new(PREFIX.join("bin"))
  def man1 = Place.new(PREFIX.join("share/man/man1"))
  def bash_completion = Place.new(PREFIX.join("etc/bash_completion.d"))
  def zsh_completion = Place.new(PREFIX.join("share/zsh/site-functions"))
  def fish_completion = Place.new(PREFIX.join("share/fish/vendor_completions.d"))
  def testpath = Place.new(PREFIX.join("test"))
  def version = self.class.version

  def shell_output(line, status = 0)
    out = `#{line}`
    raise "#{line}: #{$?.exitstatus}, want #{status}\n#{out}" unless $?.exitstatus == status

    out
  end

  def assert_match(want, text) = text.include?(want) || raise("#{want} is not in #{text}")
end

load ARGV[0]
Dir.chdir(ARGV[3]) { Interlock.new.install }
FileUtils.mkdir_p(Interlock.new.testpath)
Interlock.new.run_test
raise "no caveats" if Interlock.new.caveats.empty?
puts JSON.generate(Interlock.values)
